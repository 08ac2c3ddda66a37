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
common-edit-cut = Cortar
common-edit-copy = Copiar
common-edit-paste = Pegar
common-edit-all = Seleccionar todo

## Teclas, como en los teclados

common-key-ctrl = Ctrl
common-key-shift = Mayús
common-key-enter = Intro
common-key-esc = Esc
common-key-space = Espacio
common-key-del = Supr
common-key-home = Inicio
common-key-end = Fin
common-key-comma = Coma
common-key-plus = Más
common-key-minus = Menos
