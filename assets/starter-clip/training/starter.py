"""Makes the modules of the image starter's training importable: its world, drawing, captions and optimisers."""
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "starter" / "training"))
