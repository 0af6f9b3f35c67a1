from tiny.m066 import f


def test_0():
    assert f('bbe') == 'zzea'


def test_1():
    assert f('bebc') == 'zezca'


def test_2():
    assert f('dddd') == 'dddda'


def test_3():
    assert f('eca') == 'ecaa'


def test_4():
    assert f('dea') == 'deaa'


def test_5():
    assert f('dbd') == 'dzda'


def test_6():
    assert f('baea') == 'zaeaa'


def test_7():
    assert f('cd') == 'cda'
