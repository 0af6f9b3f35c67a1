from tiny.m167 import f


def test_0():
    assert f('cbd') == 'cb'


def test_1():
    assert f('ebe') == 'eb'


def test_2():
    assert f('dadc') == 'da'


def test_3():
    assert f('ab') == 'ab'


def test_4():
    assert f('dbbe') == 'db'


def test_5():
    assert f('dc') == 'dc'


def test_6():
    assert f('ddbc') == 'dd'


def test_7():
    assert f('ebed') == 'eb'
