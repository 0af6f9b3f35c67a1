from tiny.m096 import f


def test_0():
    assert f('aeee') == 'EE'


def test_1():
    assert f('acbb') == 'BB'


def test_2():
    assert f('aba') == 'A'


def test_3():
    assert f('bece') == 'CE'


def test_4():
    assert f('eabb') == 'BB'


def test_5():
    assert f('bce') == 'E'


def test_6():
    assert f('acd') == 'D'


def test_7():
    assert f('aeac') == 'AC'
