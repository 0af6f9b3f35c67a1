from tiny.m226 import f


def test_0():
    assert f('cc') == 'w'


def test_1():
    assert f('bd') == 'd'


def test_2():
    assert f('dc') == 'w'


def test_3():
    assert f('eeca') == 'wae'


def test_4():
    assert f('ab') == 'b'


def test_5():
    assert f('aaad') == 'ada'


def test_6():
    assert f('ddca') == 'wad'


def test_7():
    assert f('ede') == 'ed'
