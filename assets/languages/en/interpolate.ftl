### The question before clips get more frames.

interpolate-title = Interpolate { $count } clips
interpolate-title-one = Interpolate { $name }
interpolate-model = Frame interpolator
interpolate-model-tip = The network that makes the frames between.
interpolate-open-tip = Use a .safetensors file of RIFE 4, such as rife_v4.26.
interpolate-factor = Frames
interpolate-factor-tip = { $factor } as many frames, in the same time.
interpolate-across-cuts = Also across cuts
interpolate-across-cuts-tip = Make frames between two scenes, too. Otherwise the last frame of a scene is repeated.
interpolate-start = Interpolate
interpolate-cancel-tip = Interpolate nothing.
interpolate-choose = Choose a file of RIFE 4 first
interpolate-folder-empty = { $name } contains no clips.
interpolate-no-clip = { $name } is no clip
interpolate-rates = { $before } frames per second become { $after }
interpolate-chosen = { $name } is a frame interpolator: Interpolate… uses it from now on
interpolate-section = Frame interpolation
interpolate-section-tip = More frames in the same time, for smoother motion.
interpolate-off = Off
interpolate-without = Interpolate no frames
interpolate-in-force = × { $factor } frames
