### Ein besserer Prompt von einem Sprachmodell.

enhance-open = Prompt ausarbeiten…
enhance-open-tip = Ein Sprachmodell auf diesem Computer einen längeren Prompt schreiben lassen.
enhance-close = Schließen
enhance-model = Sprachmodell
enhance-model-tip = Eine Datei von Qwen3, als GGUF oder safetensors, die den Prompt schreibt.
enhance-no-model = Kein Sprachmodell gefunden. Eine .gguf- oder .safetensors-Datei von Qwen3 wählen, etwa Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Zuerst ein paar Wörter als Prompt schreiben
enhance-takes = Braucht bis zu { $memory } Speicher und höchstens etwa { $time }
enhance-writing = Das Sprachmodell schreibt
enhance-stop = Stopp
enhance-stop-tip = Nicht weiterschreiben.
enhance-keep = Verwenden
enhance-keep-tip = Dies an die Stelle des Prompts setzen.
enhance-write = Schreiben
enhance-write-tip = Einen längeren Prompt schreiben.
enhance-again = Noch einmal
enhance-again-tip = Einen anderen schreiben, mit einem anderen Seed.
enhance-instruction = Anweisung
enhance-instruction-tip = Was dem Sprachmodell gesagt wird.
enhance-instruction-for = Für { $kind }
enhance-instruction-usual = Übliche Anweisung
enhance-instruction-usual-tip = Wieder die Anweisung verwenden, die mit Sluice kommt.
enhance-kind-tags = Modelle, die Tags lesen
enhance-kind-sentences = Modelle, die Sätze lesen
enhance-kind-motion = Modelle für Clips
enhance-kept = Der Prompt wurde ausgearbeitet
enhance-describe-open = Bild beschreiben…
enhance-describe-open-all = Bilder beschreiben…
enhance-describe-open-tip = Ein Sprachmodell auf diesem Computer sagen lassen, was zu sehen ist.
enhance-each-open = Einzeln beschreiben…
enhance-each-open-tip = Neben jedem Bild einen Text speichern, wie ihn LoRA-Trainer lesen.
enhance-each =
    { $count ->
        [one] 1 Bild wird beschrieben und sein Text daneben gespeichert
       *[other] { $count } Bilder werden einzeln beschrieben, jedes in einem Text daneben
    }
enhance-each-done =
    { $count ->
        [one] 1 Bild wird ausgelassen, weil sein Text schon da ist
       *[other] { $count } Bilder werden ausgelassen, weil ihre Texte schon da sind
    }
enhance-each-takes = Jedes braucht bis zu { $memory } Speicher und höchstens etwa { $time }
enhance-each-start = Einzeln beschreiben
enhance-each-start-tip = Für jedes Bild einen Auftrag einreihen und den Text daneben speichern.
enhance-each-queued =
    { $count ->
        [one] 1 Bild wird beschrieben
       *[other] { $count } Bilder werden beschrieben
    }
enhance-each-described =
    { $count ->
        [one] 1 Bild ist beschrieben. Der Text liegt daneben.
       *[other] { $count } Bilder sind beschrieben. Die Texte liegen daneben.
    }
enhance-describer-tip = Qwen2.5-VL oder Qwen3-VL, das das Bild sieht und sagt, was es zeigt.
enhance-no-describer = Kein Sprachmodell gefunden, das Bilder sieht. Qwen2.5-VL Instruct oder Qwen3-VL Instruct als safetensors wählen oder als GGUF mit der mmproj-Datei daneben.
enhance-describes = Beschreibung von { $names }
enhance-as = Beschreiben als
enhance-as-tip = Welche Art von Worten das Sprachmodell schreibt.
enhance-as-prompt = Prompt
enhance-as-tags = Tags
enhance-as-short = Kurze Bildunterschrift
enhance-as-motion = Prompt für einen Clip
enhance-describe = Beschreiben
enhance-describe-tip = Schreiben, was zu sehen ist.
enhance-use = Als Prompt verwenden
enhance-append = Anhängen
enhance-append-tip = Dies an das Ende des Prompts setzen.
enhance-copy = Kopieren
enhance-copy-tip = Diese Worte kopieren.
enhance-described = Der Prompt beschreibt, was zu sehen ist
