### The sheet of keys, opened with F1.

## Keys, and what they do

help-escape = Leave a field, close what is open, or cancel the running image
help-left-right = Previous or next image; of a clip, frame
help-up-down = Previous or next image or clip in the list
help-space = Play or pause the clip
help-home-end = First or last frame that is played
help-range = Play from this frame on, or up to it
help-gallery = In the gallery: star, move to the trash, export
help-delete = Move the image or clip to the trash, with a way back
help-weights = In the prompt: more or less weight for the words at the cursor
help-undo = Take back an edit of a text, or a stroke of a mask
help-paste = Use the image on the clipboard
help-brush = Smaller or larger brush
help-zoom = Larger or smaller window contents
help-tab = Next or previous control
help-canvas = On the image: zoom, move, switch between fit and 100%
help-canvas-keys = Wheel, drag, double-click
help-menu = On an image or a waiting job: what can be done with it
help-menu-keys = Right click
