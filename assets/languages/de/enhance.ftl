### Ein besserer Prompt von einem Sprachmodell.

enhance-open = Prompt ausarbeiten…
enhance-open-tip = Ein Sprachmodell auf diesem Computer einen längeren Prompt schreiben lassen
enhance-close = Schließen
enhance-model = Sprachmodell
enhance-model-tip = Eine Datei von Qwen3, als GGUF oder safetensors, die den Prompt schreibt
enhance-no-model = Kein Sprachmodell gefunden. Eine .gguf- oder .safetensors-Datei von Qwen3 wählen, etwa Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Zuerst ein paar Wörter als Prompt schreiben
enhance-takes = Braucht bis zu { $memory } Speicher und höchstens etwa { $time }
enhance-writing = Das Sprachmodell schreibt
enhance-stop = Stopp
enhance-stop-tip = Nicht weiterschreiben
enhance-keep = Verwenden
enhance-keep-tip = Dies an die Stelle des Prompts setzen
enhance-write = Schreiben
enhance-write-tip = Einen längeren Prompt schreiben
enhance-again = Noch einmal
enhance-again-tip = Einen anderen schreiben, mit einem anderen Seed
enhance-instruction = Anweisung
enhance-instruction-tip = Was dem Sprachmodell gesagt wird
enhance-instruction-for = Für { $kind }
enhance-instruction-usual = Übliche Anweisung
enhance-instruction-usual-tip = Wieder die Anweisung verwenden, die mit Sluice kommt
enhance-kind-tags = Modelle, die Tags lesen
enhance-kind-sentences = Modelle, die Sätze lesen
enhance-kind-motion = Modelle für Clips
enhance-kept = Der Prompt wurde ausgearbeitet
