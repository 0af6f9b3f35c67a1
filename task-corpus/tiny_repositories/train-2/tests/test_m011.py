from tiny.m011 import f


def test_0():
    assert f('cb') == 'CB'


def test_1():
    assert f('dc') == 'DC'


def test_2():
    assert f('ced') == 'CED'


def test_3():
    assert f('daec') == 'DAEC'


def test_4():
    assert f('ebcb') == 'EBCB'


def test_5():
    assert f('ebae') == 'EBAE'


def test_6():
    assert f('bbca') == 'BBCA'


def test_7():
    assert f('dec') == 'DEC'
