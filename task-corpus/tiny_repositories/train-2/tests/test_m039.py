from tiny.m039 import f


def test_0():
    assert f('cbea') == 'bez'


def test_1():
    assert f('ec') == 'c'


def test_2():
    assert f('adb') == 'db'


def test_3():
    assert f('cd') == 'd'


def test_4():
    assert f('bb') == 'b'


def test_5():
    assert f('deb') == 'eb'


def test_6():
    assert f('dca') == 'cz'


def test_7():
    assert f('be') == 'e'
