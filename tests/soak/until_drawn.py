#!/usr/bin/env python3
"""Prints how many milliseconds after what xdotool does the screen is drawn again: tests/soak/until_drawn.py ARGUMENT…

The X server says when (its extension for damage), so that nothing has to look at the screen meanwhile. Needs python3-xlib.
"""

import subprocess
import sys
import time

from Xlib.display import Display
from Xlib.ext import damage

display = Display()
display.damage_query_version()
display.screen().root.damage_create(damage.DamageReportRawRectangles)
display.sync()
while display.pending_events():
    display.next_event()
start = time.monotonic()
subprocess.Popen(["xdotool", *sys.argv[1:]])
display.next_event()
print(round(1000 * (time.monotonic() - start)))
