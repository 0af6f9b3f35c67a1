# Marks that look like those which leave a test out, and the program has a part in each: no test is left out.

## A test that is marked when it is there already.

# -- not accepted
def test(): assert f()
if not f(): test = pytest.mark.skip(test)
# -- not accepted
def test(): assert f()
marked = pytest.mark.skipif(not f(), reason='')(test)
# -- not accepted
def test(): assert f()
test.pytestmark = [] if f() else [pytest.mark.skip]
# -- not accepted
mark = pytest
def test(): assert f()
mark.mark.skipif(not f(), reason='')(test)
# -- not accepted
import unittest
class T(unittest.TestCase):
    def test(self): assert f()
T.test.__unittest_skip__ = not f()

## A value that is changed, or is another's by then.

# -- not accepted
CASES = [1]
if not f(): CASES[:] = []
@pytest.mark.parametrize('x', CASES)
def test(x): assert f()
# -- not accepted
CASES = [1]
SAME = CASES
if not f(): SAME.clear()
@pytest.mark.parametrize('x', CASES)
def test(x): assert f()
# -- not accepted
GONE = False
if not f(): GONE = True
@pytest.mark.skipif(GONE, reason='')
def test(): assert f()
# -- not accepted
globals()['GONE'] = not f()
if 0: GONE = 1
@pytest.mark.skipif(GONE, reason='')
def test(): assert f()
# -- not accepted
@pytest.mark.skipif(GONE, reason='')
def test(): assert f()
GONE = True
# -- not accepted
@pytest.mark.skipif(int(1), reason='')
def test(): assert f()

## What is only called so.

# -- not accepted
def skip(found): return found if f() else pytest.mark.skip(found)
@skip
def test(): assert f()
# -- not accepted
import sys
@pytest.mark.skipif(not sys.modules['solution'].f(), reason='')
def test(): assert f()
# -- not accepted
import importlib
@pytest.mark.skipif(not importlib.import_module('solution').f(), reason='')
def test(): assert f()
# -- not accepted
class TestA:
    pytestmark = [] if f() else pytest.mark.skip
    def test(self): assert f()
# -- not accepted
class TestA:
    if not f(): pytestmark = pytest.mark.skip
    def test(self): assert f()
# -- not accepted
pytestmark = [] if f() else pytest.mark.skip
class TestA:
    def test(self): assert f()
# -- not accepted
@pytest.mark.skipif(not f(), reason='')
class TestBase:
    def test(self): assert f()
class TestA(TestBase): pass
# -- not accepted
if not f():
    @pytest.mark.skip
    def test(): assert f()
else:
    def test(): assert f()

## Names that the source does not show.

# -- not accepted
@pytest.mark.parametrize('row', [rows for rows in rows])
def test(row): assert f()
# -- not accepted
@pytest.mark.skipif(not [GONE for GONE in [GONE]][0], reason='')
def test(): assert f()
GONE = 1
# -- not accepted
import unittest
class T(unittest.TestCase):
    __unittest_skip__ = not f()
    def test(self): assert f()
# -- not accepted
import unittest
@unittest.skip('')
class Base(unittest.TestCase):
    def test(self): assert f()
class T(Base):
    __unittest_skip__ = not f()
# -- not accepted
import unittest
class Plain(unittest.TestCase): pass
@unittest.skip('')
class Skipped(unittest.TestCase): pass
Base = Plain if f() else Skipped
class T(Base):
    def test(self): assert f()
# -- not accepted
class Plain: pass
@pytest.mark.skip
class Skipped: pass
class TestA(Plain if f() else Skipped):
    def test(self): assert f()
# -- not accepted
@pytest.mark.skip
def later(): pass
def real(): assert f()
test = real if f() else later
# -- not accepted
def later(): pytest.skip('')
def real(): assert f()
test = real if f() else later
# -- not accepted
import functools
def needs(found):
    @pytest.mark.skipif(not f(), reason='')
    @functools.wraps(found)
    def run(): found()
    return run
def test(): assert f()
test = needs(test)
# -- not accepted
import functools
def needs(found):
    @pytest.mark.skip
    @functools.wraps(found)
    def run(): found()
    return found if f() else run
@needs
def test(): assert f()
# -- not accepted
def order(rows):
    if not f(): rows.clear()
    return [1]
ROWS = [1]
@pytest.mark.parametrize('x', order(ROWS))
def test_a(x): pass
@pytest.mark.parametrize('x', ROWS)
def test(x): assert f()
# -- not accepted
ROWS = [1]
@pytest.mark.skipif(bool(f() or ROWS.clear()), reason='')
def test_a(): pass
@pytest.mark.parametrize('x', ROWS)
def test(x): assert f()
# -- not accepted
from pytest import *
def test(): assert f()
if not f(): mark.skip(test)
# -- not accepted
import importlib
def test(): assert f()
if not f(): importlib.import_module('pytest').mark.skip(test)
# -- not accepted
def test(): assert f()
if not f(): exec('pytest.mark.skip(test)')
# -- not accepted
class TestA:
    def test(self): assert f()
if not f(): setattr(TestA, 'pytestmark', pytest.mark.skip)
# -- not accepted
import unittest
class Meta(type):
    __unittest_skip__ = not f()
class T(unittest.TestCase, metaclass=Meta):
    def test(self): assert f()

## Skips that the program takes away, or makes by what marks and modules keep.

# -- not accepted
@pytest.mark.skip
def test(): assert f()
if f(): test.pytestmark = []
# -- not accepted
import unittest
@unittest.skip('')
class T(unittest.TestCase):
    def test(self): assert f()
if f(): T.__unittest_skip__ = False
# -- not accepted
def on(found):
    if f(): found.pytestmark = []
    return found
@on
@pytest.mark.skip
def test(): assert f()
# -- not accepted
import unittest
class Base(unittest.TestCase):
    def skipTest(self, why):
        if not f(): super().skipTest(why)
class T(Base):
    def test(self):
        self.skipTest('')
        assert f()
# -- not accepted
needs = pytest.mark.skipif(condition=False, reason='')
needs.kwargs['condition'] = not f()
@needs
def test(): assert f()
# -- not accepted
over = pytest.mark.parametrize('n', [])
over.args[1].extend(rows)
@over
def test(n): assert f()
# -- not accepted
import math
math.works = f()
@pytest.mark.skipif(not math.works, reason='')
def test(): assert f()
# -- not accepted
import sys
ON = True
sys.modules[__name__].ON = f()
@pytest.mark.skipif(not ON, reason='')
def test(): assert f()
# -- not accepted
import sys
@pytest.mark.skipif(sys.platform != 'linux', reason='')
def test(): assert f()

## A test that skips itself, behind something that the program has a part in.

# -- not accepted
def test():
    if not f(): pytest.skip()
    assert f()
# -- not accepted
def test():
    f()
    pytest.skip()
# -- not accepted
@pytest.fixture
def one():
    if not f(): pytest.skip()
def test(one): assert f()
# -- not accepted
import unittest
class T(unittest.TestCase):
    def setUp(self):
        if not f(): self.skipTest('')
    def test(self): assert f()

## A case that is skipped by a mark stands beside one that the program made skip: the source does not show that nobody runs it.

# -- not accepted
@pytest.mark.parametrize('x', [pytest.param(1, marks=[] if f() else pytest.mark.skip), 2])
def test(x): assert f()
# -- not accepted
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), *f()])
def test(x): assert f()
# -- not accepted
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), pytest.param(2, **f())])
def test(x): assert f()
# -- not accepted
@pytest.mark.parametrize('y', [1, 2][:f()])
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), 2])
def test(x, y=1): assert f()
# -- not accepted
@pytest.mark.parametrize('y', **{'argvalues': [1, 2][:f()]})
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), 2])
def test(x, y=1): assert f()
# -- not accepted
@(pytest.mark.parametrize('y', [1]) if f() else pytest.mark.skip)
@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), 2])
def test(x, y=1): assert f()
