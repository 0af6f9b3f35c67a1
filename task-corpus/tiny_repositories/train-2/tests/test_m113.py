from tiny.m113 import f


def test_0():
    assert f('ccbe') == 'dccbe'


def test_1():
    assert f('dc') == 'ddc'


def test_2():
    assert f('bd') == 'dbd'


def test_3():
    assert f('cb') == 'dcb'


def test_4():
    assert f('ecdd') == 'decdd'


def test_5():
    assert f('dadd') == 'ddadd'


def test_6():
    assert f('dca') == 'ddca'


def test_7():
    assert f('caee') == 'dcaee'
