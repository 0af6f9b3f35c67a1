from tiny.m023 import f


def test_0():
    assert f('cc') == 'cc'


def test_1():
    assert f('ce') == 'ec'


def test_2():
    assert f('ddbc') == 'cxxb'


def test_3():
    assert f('aecd') == 'xaec'


def test_4():
    assert f('ebec') == 'cebe'


def test_5():
    assert f('ccca') == 'accc'


def test_6():
    assert f('ecd') == 'xec'


def test_7():
    assert f('ee') == 'ee'
