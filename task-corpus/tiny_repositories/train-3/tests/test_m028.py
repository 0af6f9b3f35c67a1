from tiny.m028 import f


def test_0():
    assert f('dbd') == 'zdbd'


def test_1():
    assert f('eaa') == 'ze'


def test_2():
    assert f('cd') == 'zcd'


def test_3():
    assert f('bb') == 'zbb'


def test_4():
    assert f('dd') == 'zdd'


def test_5():
    assert f('dab') == 'zdb'


def test_6():
    assert f('dcab') == 'zdcb'


def test_7():
    assert f('cc') == 'zcc'
