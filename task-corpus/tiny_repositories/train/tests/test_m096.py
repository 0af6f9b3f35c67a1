from tiny.m096 import f


def test_0():
    assert f('ddde') == 'dd'


def test_1():
    assert f('bbce') == 'bb'


def test_2():
    assert f('ca') == 'ca'


def test_3():
    assert f('ecd') == 'ec'


def test_4():
    assert f('ab') == 'ab'


def test_5():
    assert f('ae') == 'ae'


def test_6():
    assert f('ece') == 'ec'


def test_7():
    assert f('da') == 'da'
