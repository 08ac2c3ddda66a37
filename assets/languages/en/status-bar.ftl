### The bar at the bottom: current activity and hardware.

## What is going on

status-bar-cancelling = Cancelling…
status-bar-per-step = { $time } per step
status-bar-engine-stopped = The engine has stopped
status-bar-paused = Paused
status-bar-waiting = Waiting for the engine…
status-bar-loading = Loading the model…
status-bar-no-model = No model loaded
status-bar-ready = Ready
status-bar-preparing = Preparing
status-bar-encoding-image = Encoding the image
status-bar-encoding-prompt = Encoding the prompt
status-bar-denoising = Denoising
status-bar-step = Step { $step } of { $steps }
status-bar-decoding = Decoding

## Weights, while an image is generated

status-bar-link = link { $speed }
status-bar-stall = waiting { $share }
status-bar-peak = peak { $memory }
status-bar-traffic-tip = How fast weights reach the device, how much of the time it waits for them, and the most of its memory that the run used.

## Hardware

status-bar-cpu-tip = { $name }, { $threads } threads.
status-bar-ram-tip = Sluice uses { $memory }
status-bar-ram-tip-limited = Sluice uses { $memory }; limited to { $limit } by { $cause }
status-bar-gpu-tip = { $name }, { $load } busy.
status-bar-gpu-tip-degrees = { $name }, { $load } busy, { $degrees } °C
status-bar-no-gpu = No NVIDIA GPU
status-bar-no-gpu-tip = The CPU computes the images. AMD, Intel and Apple GPUs cannot be used for computing yet. An engine on another computer with an NVIDIA GPU can be used today: Settings, Engine.
status-bar-no-gpu-elsewhere-tip = The CPU of the other computer computes the images.
status-bar-upscaling = Upscaling
status-bar-interpolating = Interpolating frames
status-bar-preprocessing = Making maps
status-bar-detecting = Looking for details
status-bar-writing = Writing
status-bar-tile = Tile { $tile } of { $tiles }
status-bar-frame = Frame { $frame } of { $frames }
