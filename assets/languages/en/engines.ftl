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
