### Palabras comunes a varias zonas de la ventana.

common-close = Cerrar
common-cancel = Cancelar
common-open-folder = Abrir la carpeta
common-time-left = quedan { $time }
common-almost-done = casi terminado
common-part-of-whole = { $part } de { $whole }
common-aspect = Proporción { $aspect }
common-automatic = automático
common-in-unit = { $name } en { $unit }
common-close-tip = Cierra esto, como Esc.
