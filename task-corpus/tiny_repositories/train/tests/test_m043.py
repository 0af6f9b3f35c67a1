from tiny.m043 import f


def test_0():
    assert f('acbc') == 'bacbcdc'


def test_1():
    assert f('eabe') == 'beabedc'


def test_2():
    assert f('daae') == 'bdaaedc'


def test_3():
    assert f('cce') == 'bccedc'


def test_4():
    assert f('bde') == 'bbdedc'


def test_5():
    assert f('bada') == 'bbadadc'


def test_6():
    assert f('cb') == 'bcbdc'


def test_7():
    assert f('baa') == 'bbaadc'
