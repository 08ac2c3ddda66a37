### L'endroit où trouver et télécharger des modèles.

get-search = Chercher sur Hugging Face, ou coller un lien
get-search-tip = Un lien vers un fichier ou un dépôt de Hugging Face ou un modèle de Civitai, ou propriétaire/nom. Les autres mots sont cherchés.
get-find = Chercher
get-find-tip = Ouvre le lien, ou cherche.
get-links-hint = Civitai, d'autres miroirs et des fichiers ailleurs s'utilisent par leurs liens.
get-back = Retour au catalogue
get-back-tip = Affiche de nouveau les modèles du catalogue.

## Le catalogue

get-catalogue = Catalogue
get-kind-all = Tout
get-kind-images = Images
get-kind-clips = Clips
get-suits-device = Adapté à { $device }
get-suits-computer = Adapté à cet ordinateur
get-all-models = Tous les modèles
get-free = { $memory } libres
get-free-tip = Sur le disque du dossier des modèles.
get-checking-fit = vérification
get-licence-on-page = Licence : voir sa page
get-needs-token = demande un token
get-lacks-space = espace libre insuffisant
get-lacks-space-tip = Il faut plus que les { $memory } libres sur le disque du dossier des modèles.
get-version-of = Version de { $name }
get-version-tip = Moins de bits : plus petit et plus rapide à charger, un peu moins de qualité.

## Les boutons d'un modèle, et leurs noms pour un lecteur d'écran

get-open = Ouvrir
get-open-named = Ouvrir { $name }
get-try-again = Réessayer
get-try-again-named = Réessayer { $name }
get-go-on = Reprendre
get-go-on-named = Reprendre { $name }
get-again = De nouveau
get-again-named = Télécharger de nouveau { $name }
get-download = Télécharger
get-download-named = Télécharger { $name }
get-open-tip = Génère désormais avec ce modèle.
get-again-tip = Les fichiers de cette version sont déjà sur cet ordinateur.
get-download-tip = Le télécharge dans le dossier des modèles.
get-fit-unknown = Pas de prévision
get-checking = Vérification…

## Comment les serveurs sont joints

get-connection = Connexion
get-mirror = Miroir
get-mirror-tip = Un miroir de Hugging Face. Vide : HF_ENDPOINT, ou Hugging Face.
get-proxy = Proxy
get-proxy-tip = Vide : celui de l'environnement, par exemple HTTPS_PROXY.
get-use = Utiliser
get-use-tip = Pour tout ce qui démarre désormais.
get-token = Token Hugging Face
get-token-tip = Pour les modèles dont les conditions doivent être acceptées.
get-token-keep = Garder dans le trousseau
get-token-keep-tip = Le garde dans le trousseau de clés du système, et nulle part ailleurs.
get-token-remove = Retirer
get-token-remove-tip = Le retire du trousseau.
get-hugging-face-token-keep = Garder le token Hugging Face dans le trousseau
get-hugging-face-token-remove = Retirer le token Hugging Face
get-token-kept = Un token est dans le trousseau.
get-token-hint = Sans token ici, HF_TOKEN et celui de `hf auth login` sont utilisés. Il n'est montré qu'au serveur ci-dessus, et seulement si celui-ci le demande.
get-civitai-token = Token Civitai
get-civitai-token-tip = Pour les modèles que seules les personnes connectées peuvent télécharger.
get-civitai-token-keep = Garder le token Civitai dans le trousseau
get-civitai-token-remove = Retirer le token Civitai
get-civitai-token-hint = Sans token ici, CIVITAI_API_TOKEN est utilisé. Il n'est montré qu'à Civitai, et seulement si Civitai le demande.

## Où mène un lien, et ce qu'une recherche a trouvé

get-looking = Recherche de « { $what } »…
get-offline = Pas de connexion
get-offline-advice = Vérifiez la connexion, le proxy et le miroir, puis réessayez.
get-not-found = Introuvable
get-licence = Licence : { $licence }
get-gated = Ses conditions doivent d'abord être acceptées sur sa page, avec le compte de votre token (voir Connexion à droite).
get-open-page = Ouvrir sa page
get-open-page-tip = Ouvre la page dans le navigateur.
get-unknown-size = taille inconnue
get-files =
    { $count ->
        [one] { $name } · { $count } fichier
       *[other] { $name } · { $count } fichiers
    }
get-results = « { $words } » sur Hugging Face
get-no-results = Aucun résultat. Moins de mots trouvent davantage.
get-show-files = Afficher les fichiers
get-show-files-of = Afficher les fichiers de { $name }
get-families = Sluice ne génère qu'avec certaines familles ; un fichier d'une autre est signalé comme tel après le téléchargement.
get-downloads-a-month = { $count } téléchargements par mois
get-likes =
    { $count ->
        [one] { $count } j'aime
       *[other] { $count } j'aime
    }

## Téléchargements en cours, terminés et échoués

get-downloads = Téléchargements
get-downloads-none = Aucun téléchargement en cours. Ce qui est en pause ou interrompu reprend plus tard là où il en était.
get-verified = { $size }, vérifié
get-size-checked = { $size }, taille vérifiée ; personne n'indique son SHA-256
get-open-this = Ouvrir ce modèle
get-show-in-folder = Afficher dans le dossier
get-phase-waiting = attend les autres
get-phase-connecting = connexion
get-phase-checking = lecture de ce qui est déjà là
get-phase-paused = en pause
get-phase-retrying = { $why } ; nouvel essai
get-phase-offline = { $why } ; reprise dès qu'il y en a une
get-take-off = Retirer { $title } de la liste
get-cancel = Annuler { $title } et supprimer ce qui est déjà là
get-resume = Reprendre { $title }
get-retry = Réessayer { $title }
get-pause = Mettre { $title } en pause
get-folder = Dossier des modèles
get-free-on-disk = { $memory } libres sur ce disque
get-another-folder = Autre dossier…
get-another-folder-tip = Par exemple le dossier models de ComfyUI : les fichiers vont dans ses sous-dossiers habituels.
get-reset = Réinitialiser
get-reset-tip = Utilise de nouveau le dossier de Sluice.
get-catalogue-as-of = Noms et tailles au { $date }. Chaque version a sa propre prévision, avec autant de bits que ses fichiers.
get-connection-tip = Affiche le miroir, le proxy et le jeton.
get-go-on-tip = Continue là où le téléchargement s'est arrêté.
get-kind-all-tip = Liste les modèles d'images et de clips.
get-kind-clips-tip = Liste les modèles de clips.
get-kind-images-tip = Liste les modèles d'images.
get-show-files-tip = Liste ce qui peut être téléchargé de ce dépôt.
get-try-again-tip = Interroge de nouveau le serveur.
