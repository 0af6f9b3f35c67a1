from tiny.m127 import f


def test_0():
    assert f('da') == 'ad'


def test_1():
    assert f('ce') == 'ec'


def test_2():
    assert f('aed') == 'dea'


def test_3():
    assert f('adcc') == 'ccda'


def test_4():
    assert f('aec') == 'cea'


def test_5():
    assert f('ceb') == 'bec'


def test_6():
    assert f('dead') == 'daed'


def test_7():
    assert f('ea') == 'e'
