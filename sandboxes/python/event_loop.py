"""Event loops without sockets. A module of the image: where a loop of asyncio's would wait, the clock moves on, or other threads run."""

import sys

after_import = sys.modules["_veriplay_after_import"].after_import
threads = sys.modules["_veriplay_threads"]


def change_loops(module):
    """Changes `asyncio.selector_events`: a loop wakes itself by a pair of sockets, and nothing wakes it while it waits here."""
    loop = module.BaseSelectorEventLoop
    plain_init = loop.__init__

    def init(self, selector=None):
        plain_init(self, Selector() if selector is None else selector)
        self._selector.loop = self

    loop.__init__ = init
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = do_nothing


def do_nothing(loop):
    pass


def change_selectors(module):
    global Selector

    class Selector(module.SelectSelector):
        """What a loop waits by. No file of a guest ever has to be waited for."""

        loop = None

        def select(self, timeout=None):
            if self.get_map():
                return super().select(0)
            if timeout is None or timeout > 0:
                threads.wait(self.is_awake, timeout, self.place)
            return []

        def is_awake(self):
            return bool(self.loop._ready) or self.loop._stopping

        def place(self):
            tasks = sys.modules["asyncio.tasks"].all_tasks(self.loop)
            names = sorted(f"{task.get_name()} ({getattr(task.get_coro(), '__qualname__', '')})" for task in tasks)
            return "an event loop of asyncio with the tasks " + ", ".join(names)


after_import("selectors", change_selectors)
after_import("asyncio.selector_events", change_loops)
