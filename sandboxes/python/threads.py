"""Threads for a guest that has one stack. A module of the image: it replaces the parts of `threading`, `_thread` and `time` that would wait.

A thread runs to its end on the stack of the thread that starts it. One that can reach what threads wait by (a queue, an event, a condition,
a lock that is held) runs later: when another thread waits, or the program ends. So does a `Timer`, once its time has come. Both are orders
in which the threads of a system could run, too.

A thread cannot be left before its end and be returned to. Where it waits, the others run on top of it. Where none can, a thread below it
goes on if that can, and the thread that waits is lost: whoever joins it gets a `Deadlock`, as does the last one that waits.
"""

import _thread
import collections
import functools
import heapq
import math
import queue
import sys
import threading
import time
import types

real_sleep, now = time.sleep, time.monotonic
before_end = sys.modules["_veriplay"].before_end
TIMEOUT_MAX = threading.TIMEOUT_MAX

# The threads on the stack, the lowest first, by their identity.
running = [_thread.get_ident()]
# Threads that have been started and have not run.
pending = collections.deque()
# Timers that have been started and are not due, as a heap: when they are, their identity, and the timer.
timers = []
# Whoever waits, the lowest on the stack first: pairs of a function that says whether it can go on, and the time when it will, or None.
waiting = []
# How many threads have been started.
started = 0


class Deadlock(RuntimeError):
    """A thread waits, and nothing is left to run that could wake it."""


class Lost(BaseException):
    """Unwinds a thread that waits, so that one below it on the stack can go on."""


def get_ident():
    """The identity of the thread that runs."""
    return running[-1]


def wait(is_ready, timeout=None, place=None):
    """Runs other threads until `is_ready()`, or until so many seconds have passed. Returns whether it is ready. `place()` names what waits."""
    if is_ready():
        return True
    ends = None if timeout is None else now() + timeout
    waiting.append((is_ready, ends))
    try:
        while not is_ready():
            if pending:
                run(pending.popleft())
            elif not pass_time(ends, place or place_of_wait):
                return is_ready()
        return True
    finally:
        waiting.pop()


def pass_time(ends, place):
    """Lets the time pass until something happens: a timer, which runs, or the end of a wait. Returns whether the topmost wait, which ends at
    `ends`, goes on."""
    below = waiting[:-1]
    if any(is_ready() for is_ready, _ in below):
        raise Lost
    due = timers[0][0] if next_timer_is_due(math.inf) else None
    times = [time for time in (due, ends, *(end for _, end in below)) if time is not None]
    if not times:
        name = threading.current_thread().name
        raise Deadlock(f"{name} waits in {place()}, and no other thread can run: threads of this sandbox run one after another, each to its end")
    earliest = min(times)
    if due == earliest:
        run_next_timer()
        return True
    real_sleep(max(0, earliest - now()))
    if ends == earliest:
        return False
    raise Lost


def place_of_wait():
    """The function of the library in which the program waits, such as `Queue.get`."""
    frame, place = sys._getframe(), "a lock"
    while frame is not None and is_of_waits(frame.f_globals.get("__name__")):
        place, frame = frame.f_code.co_qualname, frame.f_back
    return place


def is_of_waits(name):
    return type(name) is str and name.partition(".")[0] in (__name__, "threading", "queue", "concurrent", "asyncio", "multiprocessing", "selectors")


def start(thread):
    """`Thread.start`."""
    global started
    if not thread._initialized:
        raise RuntimeError("thread.__init__() not called")
    if thread._started.is_set():
        raise RuntimeError("threads can only be started once")
    started += 1
    thread._ident = handle_of(thread).ident = running[0] + started
    if getattr(thread, "_context", thread) is None:
        thread._context = threading._contextvars.Context()
    threading._active[thread._ident] = thread
    thread._started.set()
    if isinstance(thread, threading.Timer) and type(thread).run is run_timer:
        finish_at_end()
        heapq.heappush(timers, (now() + thread.interval, thread._ident, thread))
    elif may_wait(thread):
        finish_at_end()
        pending.append(thread)
    else:
        run(thread)


def run(thread):
    """Runs a thread to its end, or to where it is lost."""
    event_loop = leave_event_loop()
    running.append(thread._ident)
    try:
        context = getattr(thread, "_context", None)
        thread.run() if context is None else context.run(thread.run)
    except Lost:
        handle_of(thread).is_lost = True
        return
    except Deadlock:
        raise
    except BaseException:
        thread._invoke_excepthook(thread)
    finally:
        running.pop()
        enter_event_loop(event_loop)
        if not handle_of(thread).is_lost:
            handle_of(thread)._set_done()
            threading._active.pop(thread._ident, None)


def leave_event_loop():
    """The running event loop of the current thread and its task, which another thread does not have."""
    events = sys.modules.get("asyncio.events")
    loop = None if events is None else events._get_running_loop()
    if loop is None:
        return None
    task = sys.modules["asyncio.tasks"]._swap_current_task(loop, None)
    events._set_running_loop(None)
    return loop, task


def enter_event_loop(event_loop):
    if event_loop is not None:
        loop, task = event_loop
        sys.modules["asyncio.events"]._set_running_loop(loop)
        sys.modules["asyncio.tasks"]._swap_current_task(loop, task)


def run_timer(timer):
    """`Timer.run`, when it is due."""
    if not timer.finished.is_set():
        timer.function(*timer.args, **timer.kwargs)
    timer.finished.set()


def next_timer_is_due(ends):
    """Whether a timer is due until then. Those that have been cancelled end."""
    while timers and timers[0][2].finished.is_set():
        run(heapq.heappop(timers)[2])
    return bool(timers) and timers[0][0] <= ends


def run_next_timer():
    due, _, timer = heapq.heappop(timers)
    real_sleep(max(0, due - now()))
    run(timer)


def sleep(seconds):
    """`time.sleep`: timers run meanwhile."""
    if timers:
        ends = now() + seconds
        while next_timer_is_due(ends):
            run_next_timer()
        seconds = min(seconds, max(0, ends - now()))
    real_sleep(seconds)


def finish_at_end():
    """Makes the end of a script wait for the threads that have not run."""
    if finish not in before_end:
        before_end.append(finish)


def finish():
    """Runs the threads for which a program waits at its end. Returns the error that ends it, or None."""
    try:
        while (thread := next(filter(is_waited_for, pending), None)) is not None or next_timer_is_due(math.inf):
            if thread is not None:
                pending.remove(thread)
                run(thread)
            elif is_waited_for(timers[0][2]):
                run_next_timer()
            else:
                heapq.heappop(timers)
    except BaseException as error:
        return error
    return None


def is_waited_for(thread):
    return not thread.daemon


HANDLE = "_os_thread_handle" if hasattr(threading.main_thread(), "_os_thread_handle") else "_handle"


def handle_of(thread):
    return getattr(thread, HANDLE)


class Handle:
    """What a thread is joined by."""

    def __init__(self):
        self.ident, self.has_ended, self.is_lost = None, False, False

    def is_done(self):
        return self.has_ended

    def _set_done(self):
        self.has_ended = True

    def join(self, timeout=None):
        if not self.is_lost:
            wait(self.is_settled, None if timeout is None or timeout < 0 else timeout)
        if self.is_lost and timeout is None:
            raise Deadlock("the joined thread waited when the others had to go on, and a thread of this sandbox cannot be returned to")

    def is_settled(self):
        return self.has_ended or self.is_lost


class Lock:
    """`threading.Lock`."""

    __slots__ = "is_held", "__weakref__"

    def __init__(self):
        self.is_held = False

    def acquire(self, blocking=True, timeout=-1):
        if timeout != -1:
            if not blocking:
                raise ValueError("can't specify a timeout for a non-blocking call")
            if timeout < 0:
                raise ValueError("timeout value must be a non-negative number")
            if timeout > TIMEOUT_MAX:
                raise OverflowError("timeout value is too large")
        if self.is_held and not (blocking and wait(self.is_free, None if timeout == -1 else timeout)):
            return False
        self.is_held = True
        return True

    def release(self):
        if not self.is_held:
            raise RuntimeError("release unlocked lock")
        self.is_held = False

    def locked(self):
        return self.is_held

    def is_free(self):
        return not self.is_held

    def __enter__(self):
        if self.is_held:
            wait(self.is_free)
        self.is_held = True
        return True

    def __exit__(self, *error):
        if not self.is_held:
            raise RuntimeError("release unlocked lock")
        self.is_held = False

    def _at_fork_reinit(self):
        self.is_held = False

    def __repr__(self):
        return f"<{'locked' if self.is_held else 'unlocked'} _thread.lock object at {id(self):#x}>"


# What a thread waits by for another one.
MEANS = threading.Condition, threading.Event, threading.Semaphore, threading.Barrier, queue.Queue, queue.SimpleQueue
OWN_NAMES = frozenset(vars(threading.main_thread())) - {"_target", "_args", "_kwargs"}
PLAIN = {int, float, str, bytes, bool, complex, type(None), types.ModuleType, type}
MOST_LOOKED_AT, MOST_ITEMS = 1000, 100
LIBRARY = threading.__file__.rpartition("/")[0]


def may_wait(thread):
    """Whether a thread can reach what it could wait by, through its target, arguments and the functions that they name."""
    means = thread.means if type(thread) is Job else [thread.run, *(item for name, item in vars(thread).items() if name not in OWN_NAMES)]
    todo, known = list(means), set()
    while todo and len(known) < MOST_LOOKED_AT:
        found = todo.pop()
        kind = type(found)
        if kind in PLAIN or id(found) in known:
            continue
        known.add(id(found))
        if issubclass(kind, MEANS) or kind in (Lock, threading._PyRLock) and is_held(found):
            return True
        todo += reached_from(found, kind)
    return False


def is_held(lock):
    return (lock if type(lock) is Lock else lock._block).is_held


def reached_from(found, kind):
    """What an object refers to, as far as it is looked at."""
    if kind is types.FunctionType:
        if found.__code__.co_filename.startswith((LIBRARY, "<_veriplay")):
            return []
        cells = [cell.cell_contents for cell in found.__closure__ or () if is_filled(cell)]
        names = names_in(found.__code__)
        return [*cells, *(found.__defaults__ or ()), *(found.__globals__[name] for name in names if name in found.__globals__)]
    if kind is types.MethodType:
        owner, names = type(found.__self__), names_in(found.__func__.__code__) if type(found.__func__) is types.FunctionType else ()
        methods = [types.MethodType(method, found.__self__) for name in names if type(method := getattr(owner, name, None)) is types.FunctionType]
        return [found.__func__, found.__self__, *methods]
    if kind is functools.partial:
        return [found.func, *found.args, *found.keywords.values()]
    if kind in (list, tuple, collections.deque):
        return [item for item, _ in zip(found, range(MOST_ITEMS))]
    if kind is dict:
        return [item for item, _ in zip(found.values(), range(MOST_ITEMS))]
    if issubclass(kind, (threading.Thread, type, types.ModuleType)):
        return []
    try:
        return list(object.__getattribute__(found, "__dict__").values())
    except AttributeError:
        return []


def is_filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def names_in(code):
    """The names that a function's code and the functions in it use."""
    names, todo = set(), [code]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        todo += [constant for constant in code.co_consts if type(constant) is types.CodeType]
    return names


class Job(threading.Thread):
    """The thread of one job of a pool."""

    def __init__(self, name, run_job, *means):
        super().__init__(name=name)
        self.run = run_job
        # What the job can wait by.
        self.means = means


def start_new_thread(function, args, kwargs={}, /):
    """`_thread.start_new_thread`."""
    if not callable(function):
        raise TypeError("first arg must be callable")
    thread = threading.Thread(target=function, args=args, kwargs=kwargs, daemon=True)
    thread.start()
    return thread.ident


stack_bytes = 0


def stack_size(size=0, /):
    """`threading.stack_size`. All stacks are as deep as the first thread's."""
    global stack_bytes
    if size < 0:
        raise ValueError("size must be 0 or a positive value")
    if 0 < size < 32768:
        raise ValueError(f"size not valid: {size} bytes")
    before, stack_bytes = stack_bytes, size
    return before


def install():
    """Puts all of it in its places."""
    _thread.start_new_thread = _thread.start_new = start_new_thread
    threading.get_ident = get_ident
    _thread.stack_size = threading.stack_size = stack_size
    threading.Lock, threading._allocate_lock, threading._CRLock = Lock, Lock, None
    threading._ThreadHandle = Handle
    threading.Thread.start, threading.Timer.run = start, run_timer
    setattr(threading.main_thread(), HANDLE, Handle())
    import _threading_local

    _threading_local.RLock = threading.RLock
    threading.local = _threading_local.local
    queue.SimpleQueue = queue._PySimpleQueue
    time.sleep = sleep


install()
