"""Pools of threads that run their jobs one after another, and a plain word on processes, which a guest does not have. A module of the image:
it replaces `ThreadPoolExecutor` and `ThreadPool`, whose own threads wait for jobs and cannot be returned to."""

import itertools
import os
import sys
import threading
import traceback

after_import = sys.modules["_veriplay_after_import"].after_import
Job, Lost = sys.modules["_veriplay_threads"].Job, sys.modules["_veriplay_threads"].Lost

NO_PROCESSES = (
    "processes are not available in this sandbox. concurrent.futures.ThreadPoolExecutor, multiprocessing.pool.ThreadPool and threading.Thread "
    "are there, and run their jobs one after another"
)


def refuse_processes(*arguments, **keywords):
    raise OSError(58, NO_PROCESSES)


def run_job(future, function, arguments, keywords):
    """Runs a job and tells its future."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments, **keywords)
    except Lost:
        raise
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class Jobs:
    """The threads of a pool: one for each job, each with the name of a pool's first thread."""

    def __init__(self, name, initializer, arguments, broken):
        self.name, self.initializer, self.arguments, self.broken = name, initializer, arguments, broken
        self.has_failed, self.threads, self.futures = False, [], []

    def start(self, future, function, arguments, keywords={}):
        thread = Job(self.name, lambda: self.run(future, function, arguments, keywords), function, arguments, keywords)
        self.threads.append(thread)
        self.futures.append(future)
        thread.start()

    def run(self, future, *job):
        self.initialize()
        if self.has_failed:
            future.set_exception(self.broken("the initializer of this pool of threads failed"))
        else:
            run_job(future, *job)

    def initialize(self):
        """Runs the pool's initializer before its first job."""
        initializer, self.initializer = self.initializer, None
        try:
            if initializer is not None:
                initializer(*self.arguments)
        except Exception:
            self.has_failed = True
            traceback.print_exc()

    def cancel(self):
        for future in self.futures:
            future.cancel()

    def join(self):
        for thread in self.threads:
            thread.join()


def change_executors(module):
    """Puts our class into `concurrent.futures.thread`."""
    base = sys.modules["concurrent.futures._base"]
    numbers = itertools.count()

    class ThreadPoolExecutor(base.Executor):
        def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
            if max_workers is None:
                max_workers = min(32, (os.cpu_count() or 1) + 4)
            if max_workers <= 0:
                raise ValueError("max_workers must be greater than 0")
            if initializer is not None and not callable(initializer):
                raise TypeError("initializer must be a callable")
            self._max_workers = max_workers
            prefix = thread_name_prefix or f"ThreadPoolExecutor-{next(numbers)}"
            self._jobs, self._shutdown = Jobs(prefix + "_0", initializer, initargs, module.BrokenThreadPool), False

        def submit(self, fn, /, *args, **kwargs):
            if self._jobs.has_failed:
                raise module.BrokenThreadPool("the initializer of this pool of threads failed")
            if self._shutdown:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = base.Future()
            self._jobs.start(future, fn, args, kwargs)
            return future

        def shutdown(self, wait=True, *, cancel_futures=False):
            self._shutdown = True
            if cancel_futures:
                self._jobs.cancel()
            if wait:
                self._jobs.join()

    ThreadPoolExecutor.__module__ = module.__name__
    ThreadPoolExecutor.__qualname__ = "ThreadPoolExecutor"
    module.ThreadPoolExecutor = ThreadPoolExecutor


def change_process_executor(module):
    module.ProcessPoolExecutor.__init__ = refuse_processes


def change_pools(module):
    """Puts our class into `multiprocessing.pool`."""
    from concurrent.futures import Future
    from concurrent.futures import TimeoutError as FutureTimeout

    class AsyncResult:
        """The results of jobs, as one."""

        def __init__(self, futures, combine, callback, error_callback):
            self._futures, self._combine, self._callbacks = futures, combine, (callback, error_callback)
            self._left = len(futures)
            for future in futures:
                future.add_done_callback(self._count)
            if not futures:
                self._call_back()

        def _count(self, future):
            self._left -= 1
            if self._left == 0:
                self._call_back()

        def _call_back(self):
            error = self._error()
            callback = self._callbacks[0 if error is None else 1]
            if callback is not None:
                callback(self._value() if error is None else error)

        def _error(self):
            return next((error for future in self._futures if (error := future.exception()) is not None), None)

        def _value(self):
            return self._combine([future.result() for future in self._futures])

        def ready(self):
            return self._left == 0

        def successful(self):
            if not self.ready():
                raise ValueError(f"{self!r} not ready")
            return self._error() is None

        def wait(self, timeout=None):
            for future in self._futures:
                try:
                    future.exception(timeout)
                except FutureTimeout:
                    return

        def get(self, timeout=None):
            self.wait(timeout)
            if not self.ready():
                raise module.TimeoutError
            error = self._error()
            if error is not None:
                raise error
            return self._value()

    class ThreadPool:
        def __init__(self, processes=None, initializer=None, initargs=()):
            if processes is not None and processes < 1:
                raise ValueError("Number of processes must be at least 1")
            if initializer is not None and not callable(initializer):
                raise TypeError("initializer must be a callable")
            self._processes = processes or os.cpu_count() or 1
            self._jobs, self._state = Jobs("Thread-1 (worker)", initializer, initargs, RuntimeError), module.RUN

        def _start(self, function, arguments, keywords={}):
            if self._state != module.RUN:
                raise ValueError("Pool not running")
            future = Future()
            self._jobs.start(future, function, arguments, keywords)
            return future

        def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
            return AsyncResult([self._start(func, args, kwds)], single, callback, error_callback)

        def apply(self, func, args=(), kwds={}):
            return self.apply_async(func, args, kwds).get()

        def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
            return AsyncResult([self._start(func, tuple(item)) for item in iterable], list, callback, error_callback)

        def starmap(self, func, iterable, chunksize=None):
            return self.starmap_async(func, iterable, chunksize).get()

        def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
            return self.starmap_async(func, zip(iterable), chunksize, callback, error_callback)

        def map(self, func, iterable, chunksize=None):
            return self.map_async(func, iterable, chunksize).get()

        def imap(self, func, iterable, chunksize=1):
            return Results([self._start(func, (item,)) for item in iterable])

        imap_unordered = imap

        def close(self):
            if self._state == module.RUN:
                self._state = module.CLOSE

        def terminate(self):
            self._state = module.TERMINATE

        def join(self):
            if self._state == module.RUN:
                raise ValueError("Pool is still running")
            self._jobs.join()

        def __enter__(self):
            if self._state != module.RUN:
                raise ValueError("Pool not running")
            return self

        def __exit__(self, *error):
            self.terminate()

        def __reduce__(self):
            raise NotImplementedError("pool objects cannot be passed between processes or pickled")

    class Results:
        """The results of jobs, in their order."""

        def __init__(self, futures):
            self._futures = iter(futures)

        def __iter__(self):
            return self

        def __next__(self):
            return next(self._futures).result()

        def next(self, timeout=None):
            return next(self._futures).result(timeout)

    module.ThreadPool, module.AsyncResult, module.ApplyResult = ThreadPool, AsyncResult, AsyncResult
    module.Pool.__init__ = refuse_processes
    module.Pool.__del__ = lambda self: None


def single(results):
    return results[0]


def change_processes(module):
    module.BaseProcess.start = refuse_processes


def change_contexts(module):
    """The parts of `multiprocessing` that only processes need."""
    for name in "Manager", "Pipe", "Pool", "Queue", "JoinableQueue", "SimpleQueue", "Lock", "RLock", "Semaphore", "Condition", "Event", "Barrier":
        setattr(module.BaseContext, name, refuse_processes)


after_import("concurrent.futures.thread", change_executors)
after_import("concurrent.futures.process", change_process_executor)
after_import("multiprocessing.pool", change_pools)
after_import("multiprocessing.process", change_processes)
after_import("multiprocessing.context", change_contexts)
