### La lista de atajos, que se abre con F1.

## Las teclas, y lo que hacen

help-escape = Salir de un campo, cerrar lo que está abierto o cancelar la imagen en curso
help-left-right = Imagen anterior o siguiente; en un clip, fotograma
help-up-down = Imagen o clip anterior o siguiente de la lista
help-space = Reproducir o pausar el clip
help-home-end = Primer o último fotograma que se reproduce
help-range = Reproducir desde este fotograma, o hasta él
help-gallery = En la galería: estrella, papelera, exportar
help-delete = Mover la imagen o el clip a la papelera, con vuelta atrás
help-weights = En el prompt: más o menos peso para las palabras del cursor
help-undo = Deshacer una edición de un texto o un trazo de la máscara
help-paste = Usar la imagen del portapapeles
help-brush = Pincel más pequeño o más grande
help-zoom = Contenido de la ventana más grande o más pequeño
help-tab = Control siguiente o anterior
help-canvas = En la imagen: ampliar, mover, alternar entre ajustar y 100%
help-canvas-keys = Rueda, arrastrar, doble clic
help-menu = En una imagen o una tarea en espera: qué se puede hacer con ella
help-menu-keys = Clic derecho
