### Engines: the list in the settings, and what several of them do.

## The list

engines-here = This computer
engines-here-tip = Generates on this computer, on its NVIDIA card if it has one.
engines-here-alone-tip = No other engine is on.
engines-card = { $name } (GPU { $number })
engines-card-tip = This card of this computer gets jobs of its own.
engines-use = Use engine { $number }
engines-use-tip = Gives it jobs.
engines-name = Name of engine { $number }
engines-name-tip = What this engine is called in the window.
engines-name-hint = Name
engines-command = Command of engine { $number }
engines-command-tip = Leads to the computer that computes. No shell runs it. Passwords and keys do not belong here.
engines-empty = Write the command that leads to the engine.
engines-quotes = A quotation mark is missing.
engines-remove = Remove engine { $number }
engines-add = Add an engine…
engines-add-tip = Adds a command to begin with, in which capital letters stand for your names.
engines-container = Container
engines-other-command = Another command
engines-hint = Each job goes to an engine that is free and has its model. Images are saved on this computer. Passwords and keys are not kept here.
engines-change-waits = Applies when the queue is done.

## Trying one

engines-try = Try it
engines-try-tip = Starts { $name } and asks for its version, device and memory.
engines-stop-trying = Stop
engines-stop-trying-tip = No longer waits for { $name }.
engines-trying = Waiting for an answer for { $seconds } s…
engines-answers = Answers: { $words }
engines-there = On the engine's computer: { $words }

## What they do

engines-title = Engines
engines-shown = Engine
engines-shown-tip = The engine whose forecast, hardware and timeline are shown.
engines-show-tip = Shows the forecast, the hardware and the timeline of this engine.
engines-begins = Begins
engines-starts = Starting…
engines-restarts = Restarting…
engines-gone = Does not answer
engines-lacks-model = Does not have this model
engines-idle = Free · { $engine }
engines-given-up = Engine not used any more: { $name }
engines-restarted = Engine restarted, resuming: { $name }
engines-not-started = The engines could not be started

## Installing the one for NVIDIA GPUs

engines-cuda = Engine for NVIDIA GPUs
engines-cuda-install = Install the engine for NVIDIA GPUs…
engines-cuda-install-tip = Asks the page of releases for its size. What is fetched, and from where, is shown before.
engines-cuda-file = Choose a file…
engines-cuda-install-file = Install the engine for NVIDIA GPUs from a file…
engines-cuda-file-tip = Installs it from an archive on this computer. Its list has to be beside it.
engines-cuda-asking = Asking for its size…
engines-cuda-program = The program, { $size }, from { $host }
engines-cuda-offer = { $program }. NVIDIA's libraries, { $libraries }, from { $host }. On the disk they take { $disk }.
engines-cuda-offer-alone = { $program }. On the disk it takes { $disk }.
engines-cuda-begin = Install
engines-cuda-begin-tip = Fetches it, compares its SHA-256 and starts it once. It is used only then.
engines-cuda-cancel-tip = Ends this and removes what has arrived.
engines-cuda-fetching = Fetching, { $amount }
engines-cuda-retrying = Trying again: { $why }
engines-cuda-unpacking = Checking and unpacking…
engines-cuda-starting = Starting it once…
engines-cuda-installed = The engine for NVIDIA GPUs is installed
engines-cuda-remove = Remove the engine for NVIDIA GPUs
engines-cuda-remove-tip = Deletes its program and NVIDIA's libraries from your data folder. Sluice computes on the CPU then.
engines-cuda-remove-later = Waits until nothing is being generated.
engines-cuda-removing = Removing…
