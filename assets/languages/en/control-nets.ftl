### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet ({ $count })
control-nets-tip = Steer the image along edges, depths or poses of another one.
control-nets-add = Add ControlNet…
control-nets-add-tip = Choose a ControlNet for this model.
control-nets-library = In the library
control-nets-library-tip = ControlNets that were found in your model folders.
control-nets-library-spoken = ControlNets in the library
control-nets-remove = Remove { $name }
control-nets-image = Image…
control-nets-image-tip = Choose the image that the ControlNet follows.
control-nets-image-remove = Remove the image of the ControlNet
control-nets-map = What the ControlNet sees
control-nets-preprocessor = Preprocessor
control-nets-preprocessor-tip = What is made of the image first. Choose none if it is a map already.
control-nets-preprocessor-none = None
control-nets-preprocessor-canny = Canny edges
control-nets-preprocessor-invert = Invert
control-nets-weight = Weight
control-nets-weight-tip = How strongly the ControlNet counts. 1 is as trained.
control-nets-start = Start
control-nets-start-tip = The fraction of the steps before which the ControlNet has no effect.
control-nets-end = End
control-nets-end-tip = The fraction of the steps after which the ControlNet has no effect.
control-nets-without = Do not use the ControlNet { $name }
