from tiny.m058 import f


def test_0():
    assert f('ceeb') == 'beecdbeecd'


def test_1():
    assert f('acc') == 'ccadccad'


def test_2():
    assert f('adcd') == 'dcdaddcdad'


def test_3():
    assert f('dae') == 'eaddeadd'


def test_4():
    assert f('bce') == 'ecbdecbd'


def test_5():
    assert f('dea') == 'aeddaedd'


def test_6():
    assert f('beee') == 'eeebdeeebd'


def test_7():
    assert f('dad') == 'dadddadd'
