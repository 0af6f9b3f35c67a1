from tiny.m058 import f


def test_0():
    assert f('ae') == 'eae'


def test_1():
    assert f('caa') == 'aace'


def test_2():
    assert f('bbc') == 'cbbe'


def test_3():
    assert f('cba') == 'abce'


def test_4():
    assert f('eb') == 'bee'


def test_5():
    assert f('acc') == 'ccae'


def test_6():
    assert f('dd') == 'dde'


def test_7():
    assert f('bacd') == 'dcabe'
