### Wo Modelle gefunden und heruntergeladen werden.

get-search = Auf Hugging Face suchen oder einen Link einfügen
get-search-tip = Ein Link auf eine Datei oder ein Repository bei Hugging Face oder auf ein Modell bei Civitai, oder Besitzer/Name. Andere Wörter werden gesucht.
get-find = Suchen
get-find-tip = Schlägt den Link nach oder sucht.
get-links-hint = Civitai, andere Spiegel und Dateien anderswo gehen über ihre Links.
get-back = Zurück zum Katalog
get-back-tip = Zeigt wieder die Modelle des Katalogs.

## Der Katalog

get-catalogue = Katalog
get-kind-all = Alle
get-kind-images = Bilder
get-kind-clips = Clips
get-suits-device = Passt zu { $device }
get-suits-computer = Passt zu diesem Computer
get-all-models = Alle Modelle
get-free = { $memory } frei
get-free-tip = Auf dem Datenträger mit dem Ordner für Modelle.
get-checking-fit = wird geprüft
get-licence-on-page = Lizenz: siehe Seite des Modells
get-needs-token = braucht ein Token
get-lacks-space = nicht genug freier Speicherplatz
get-lacks-space-tip = Es braucht mehr als die { $memory }, die auf dem Datenträger mit dem Ordner für Modelle frei sind.
get-version-of = Version von { $name }
get-version-tip = Weniger Bits sind kleiner und schneller geladen, mit etwas weniger Qualität.

## Knöpfe eines Modells, und wie ein Vorleseprogramm sie nennt

get-open = Öffnen
get-open-named = { $name } öffnen
get-try-again = Noch einmal
get-try-again-named = { $name } noch einmal versuchen
get-go-on = Weiter
get-go-on-named = Mit { $name } weitermachen
get-again = Erneut
get-again-named = { $name } erneut herunterladen
get-download = Laden
get-download-named = { $name } herunterladen
get-open-tip = Erzeugt von nun an mit diesem Modell.
get-again-tip = Die Dateien dieser Version sind schon auf diesem Computer.
get-download-tip = Lädt es in den Ordner für Modelle herunter.
get-fit-unknown = Keine Vorhersage
get-checking = Wird geprüft…

## Wie Server erreicht werden

get-connection = Verbindung
get-mirror = Spiegel
get-mirror-tip = Ein Spiegel von Hugging Face. Leer: HF_ENDPOINT oder Hugging Face selbst.
get-proxy = Proxy
get-proxy-tip = Leer: der aus der Umgebung, etwa HTTPS_PROXY.
get-use = Verwenden
get-use-tip = Für alles, was von nun an beginnt.
get-token = Hugging-Face-Token
get-token-tip = Für Modelle, deren Bedingungen angenommen werden müssen.
get-token-keep = Im Schlüsselbund speichern
get-token-keep-tip = Speichert es im Schlüsselbund des Systems und sonst nirgends.
get-token-remove = Entfernen
get-token-remove-tip = Entfernt es aus dem Schlüsselbund.
get-hugging-face-token-keep = Das Hugging-Face-Token im Schlüsselbund speichern
get-hugging-face-token-remove = Das Hugging-Face-Token entfernen
get-token-kept = Ein Token ist im Schlüsselbund.
get-token-hint = Ohne eines hier gelten HF_TOKEN und das von `hf auth login`. Es wird nur dem Server oben gezeigt, und nur, wenn er danach fragt.
get-civitai-token = Civitai-Token
get-civitai-token-tip = Für Modelle, die nur laden darf, wer angemeldet ist.
get-civitai-token-keep = Das Civitai-Token im Schlüsselbund speichern
get-civitai-token-remove = Das Civitai-Token entfernen
get-civitai-token-hint = Ohne eines hier gilt CIVITAI_API_TOKEN. Es wird nur Civitai gezeigt, und nur, wenn Civitai danach fragt.

## Wohin ein Link führt und was eine Suche gefunden hat

get-looking = „{ $what }“ wird gesucht…
get-offline = Keine Verbindung
get-offline-advice = Verbindung, Proxy und Spiegelserver prüfen, dann noch einmal versuchen.
get-not-found = Das wurde nicht gefunden
get-licence = Lizenz: { $licence }
get-gated = Die Bedingungen müssen zuerst auf der Seite des Modells angenommen werden, mit dem Konto des Tokens (siehe Verbindung rechts).
get-open-page = Seite öffnen
get-open-page-tip = Öffnet die Seite im Browser.
get-unknown-size = unbekannte Größe
get-files =
    { $count ->
        [one] { $name } · { $count } Datei
       *[other] { $name } · { $count } Dateien
    }
get-results = „{ $words }“ auf Hugging Face
get-no-results = Nichts gefunden. Weniger Wörter finden mehr.
get-show-files = Dateien zeigen
get-show-files-of = Dateien von { $name } zeigen
get-families = Sluice erzeugt nur mit bestimmten Familien; bei einer Datei aus einer anderen steht das nach dem Herunterladen dabei.
get-downloads-a-month = { $count } Downloads im Monat
get-likes =
    { $count ->
        [one] { $count } Like
       *[other] { $count } Likes
    }

## Laufende, fertige und fehlgeschlagene Downloads

get-downloads = Downloads
get-downloads-none = Nichts wird heruntergeladen. Was angehalten oder unterbrochen ist, geht später dort weiter, wo es war.
get-verified = { $size }, geprüft
get-size-checked = { $size }, Größe geprüft; niemand nennt die SHA-256-Summe
get-open-this = Dieses Modell öffnen
get-show-in-folder = Im Ordner zeigen
get-phase-waiting = wartet auf andere
get-phase-connecting = wird verbunden
get-phase-checking = liest, was schon da ist
get-phase-paused = angehalten
get-phase-retrying = { $why }; es wird noch einmal versucht
get-phase-offline = { $why }; es geht weiter, sobald es eine gibt
get-take-off = { $title } von der Liste nehmen
get-cancel = { $title } abbrechen und entfernen, was davon da ist
get-resume = Mit { $title } weitermachen
get-retry = { $title } noch einmal versuchen
get-pause = { $title } anhalten
get-folder = Ordner für Modelle
get-free-on-disk = { $memory } frei auf diesem Datenträger
get-another-folder = Anderer Ordner…
get-another-folder-tip = Zum Beispiel der Ordner models von ComfyUI: Dateien kommen darin in dessen eigene Ordner.
get-reset = Zurücksetzen
get-reset-tip = Verwendet wieder den eigenen Ordner von Sluice.
get-catalogue-as-of = Namen und Größen vom { $date }. Ob es passt, gilt für jede Version mit den Bits ihrer Dateien.
get-kind-all-tip = Listet Modelle für Bilder und für Clips.
get-kind-images-tip = Listet Modelle für Bilder.
get-kind-clips-tip = Listet Modelle für Clips.
get-go-on-tip = Setzt den Download fort, wo er anhielt.
get-connection-tip = Zeigt Spiegel, Proxy und Token.
get-try-again-tip = Fragt den Server noch einmal.
get-show-files-tip = Listet, was man aus diesem Repository laden kann.
