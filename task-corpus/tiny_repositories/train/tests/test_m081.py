from tiny.m081 import f


def test_0():
    assert f('aade') == 'edaaedaa'


def test_1():
    assert f('ee') == 'eeee'


def test_2():
    assert f('eec') == 'ceecee'


def test_3():
    assert f('bec') == 'cebceb'


def test_4():
    assert f('ab') == 'baba'


def test_5():
    assert f('cae') == 'eaceac'


def test_6():
    assert f('ea') == 'aeae'


def test_7():
    assert f('ce') == 'ecec'
