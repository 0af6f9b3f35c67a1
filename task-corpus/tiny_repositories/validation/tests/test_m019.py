from tiny.m019 import f


def test_0():
    assert f('ece') == 'eceeceece'


def test_1():
    assert f('adde') == 'addeaddeadde'


def test_2():
    assert f('cea') == 'ceaceacea'


def test_3():
    assert f('ba') == 'bababa'


def test_4():
    assert f('bebb') == 'bebbbebbbebb'


def test_5():
    assert f('ccde') == 'ccdeccdeccde'


def test_6():
    assert f('eaa') == 'eaaeaaeaa'


def test_7():
    assert f('ddcc') == 'ddccddccddcc'
