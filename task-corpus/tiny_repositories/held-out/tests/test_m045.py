from tiny.m045 import f


def test_0():
    assert f('eb') == 'eee'


def test_1():
    assert f('ec') == 'eee'


def test_2():
    assert f('aaed') == 'aeaeae'


def test_3():
    assert f('dadc') == 'dddddd'


def test_4():
    assert f('caea') == 'cecece'


def test_5():
    assert f('eec') == 'eceec'


def test_6():
    assert f('bb') == 'bbb'


def test_7():
    assert f('bd') == 'bbb'
