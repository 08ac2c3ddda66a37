### The queue in the top bar: what runs and what waits.

queue-title = Queue { $count }
queue-title-empty-paused = Queue · paused
queue-title-paused = Queue { $count } · paused
queue-nothing = Nothing is queued. Generate puts images and clips here.
queue-tip = Jobs that run or wait.
queue-name = Queue
queue-resume = Resume
queue-resume-tip = Go on where the queue was paused.
queue-pause = Pause
queue-pause-tip = Stop after the current step and free the memory. Resume goes on from there.
queue-cancel-all = Cancel all
queue-cancel-all-tip = Cancel what runs and what waits.
queue-resume-cancelled = Resume cancelled
queue-resume-cancelled-tip = Continue “{ $name }” where it was cancelled.
queue-resume-cancelled-and-others-tip =
    { $others ->
        [one] Continue “{ $name }” where it was cancelled. Then another one can be resumed.
       *[other] Continue “{ $name }” where it was cancelled. Then { $others } others can be resumed.
    }
queue-no-prompt = No prompt
queue-images =
    { $count ->
        [one] { $count } image
       *[other] { $count } images
    }
queue-clips =
    { $count ->
        [one] { $count } clip
       *[other] { $count } clips
    }
queue-size =
    { $count ->
        [one] { $size } · { $count } step
       *[other] { $size } · { $count } steps
    }
queue-ended = Ended
queue-cancelling = Cancelling…
queue-waiting = Waiting
queue-running = Running
queue-actions = Actions for job { $job }
queue-cancel = Cancel job { $job }
queue-grid-ended = Grid · ended
queue-grid-cancelling = Grid · cancelling…
queue-grid-done = Grid · { $done } of { $all }
queue-grid-tip = The images of a grid. When they are done, they are composed into one.
queue-grid-cancel = Cancel the grid
queue-folder-ended = { $name } · ended
queue-folder-cancelling = { $name } · cancelling…
queue-folder-done = { $name } · { $done } of { $all }
queue-folder-tip = The images of a folder.
queue-folder-cancel = Cancel the folder
queue-files-done = { $done } of { $all }
queue-files-tip = Files that were queued together.
queue-files-cancel = Cancel all of these files
queue-run-next = Run next
queue-run-next-tip = Run it after the job that is running.
queue-is-next = It is the next one already.
queue-run-last = Run last
queue-run-last-tip = Run it after all others.
queue-is-last = It is the last one already.
queue-duplicate = Duplicate with another seed
queue-duplicate-tip = Add the same job again, with a random seed.
queue-edit = Edit
queue-edit-tip = Change its settings in the panel; it keeps its place in the queue.
queue-upscale = Upscale { $name }
queue-interpolate = Interpolate { $name }
queue-detail = Detail { $name }
queue-depth = Depth map of { $name }
queue-pose = Pose of { $name }
queue-segments = Segments of { $name }
queue-soft-edge = Soft edges of { $name }
queue-mask = Mask of { $name }
queue-enhance = Enhance the prompt
queue-describe = Describe { $names }
queue-describe-files = Describe { $count } images
queue-repeat = Repeat
queue-repeat-tip = When the queue is done, generates its last image or clip again with another seed, until you cancel it or turn this off.
queue-time-left = About { $time } left in all
queue-time-left-tip = Until the queue is done, by the forecast for the current settings.
