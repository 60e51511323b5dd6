"""A client for waybill, for hosts in Python: typed calls, events and restarts over the pipes of a child process.

It refuses to be more: it keeps nothing on disk, decides nothing about tasks, and needs nothing but the standard library.
"""

from .client import Waybill
from .errors import Disconnected, WaybillError
from .restart import Restart
from .streams import Events, Notifications

__all__ = ["Disconnected", "Events", "Notifications", "Restart", "Waybill", "WaybillError"]
