// CPython as a guest: a module that the host starts once and calls for each job. `sandboxes/cpython/build` compiles it.
//
// It exports
// - `host_alloc(size)`: memory for the host to write into, or null;
// - `turn(source, len)`: runs a source text in `__main__` and frees it. Returns 0, or 1 where it raised.
// `turn` calls a Python function of this name, at the bottom of all frames, which the harness replaces before the snapshot.
//
// It has a module `_host` with one function, `call(frame)`, which sends bytes to the host and returns the host's answer.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define PROGRAM L"/usr/local/bin/python.wasm"

__attribute__((import_module("host"), import_name("call")))
int32_t host_call(const void *frame, int32_t len, void **reply, int32_t *reply_len);

// The bottom module; null until the first turn.
static PyObject *reactor;

// Memory of the interpreter's own allocator, where small objects are. Before the interpreter starts that cannot be asked; it frees memory of
// either kind.
EXPORT("host_alloc") void *host_alloc(int32_t size) {
    return reactor ? PyMem_Malloc((uint32_t)size) : PyMem_RawMalloc((uint32_t)size);
}

static PyObject *call(PyObject *module, PyObject *object) {
    Py_buffer frame;
    if (PyObject_GetBuffer(object, &frame, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    void *reply = NULL;
    int32_t len = 0;
    int32_t status = host_call(frame.buf, (int32_t)frame.len, &reply, &len);
    PyBuffer_Release(&frame);
    PyObject *bytes = NULL;
    if (status != 0 || !reply) {
        PyErr_Format(PyExc_OSError, "the host refused a frame: %d", (int)status);
    } else {
        bytes = PyBytes_FromStringAndSize(reply, len);
    }
    PyMem_Free(reply);
    return bytes;
}

static PyMethodDef host_methods[] = {
    {"call", call, METH_O, "Sends a frame to the host and returns its answer."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef host_module = {
    PyModuleDef_HEAD_INIT, .m_name = "_host", .m_size = 0, .m_methods = host_methods,
};

static PyObject *init_host_module(void) {
    return PyModuleDef_Init(&host_module);
}

static const char REACTOR[] =
    "import site, sys\n"
    "site.setquit()\n"
    "site.setcopyright()\n"
    "site.sethelper()\n"
    "\n"
    "# The harness replaces it by a function of two arguments that returns two values.\n"
    "def turn(source, environ):\n"
    "    import __main__\n"
    "    try:\n"
    "        exec(compile(source, '<turn>', 'exec', 0, True), __main__.__dict__)\n"
    "    except BaseException:\n"
    "        sys.excepthook(*sys.exc_info())\n"
    "        return 1, False\n"
    "    finally:\n"
    "        sys.stdout.flush()\n"
    "        sys.stderr.flush()\n"
    "    return 0, False\n";

static PyStatus initialize(PyConfig *config) {
    config->write_bytecode = 0;
    config->site_import = 0;
    config->module_search_paths_set = 1;
    wchar_t **paths[] = {&config->prefix, &config->exec_prefix, &config->base_prefix, &config->base_exec_prefix};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(paths); i++) {
        PyStatus status = PyConfig_SetString(config, paths[i], L"/usr/local");
        if (PyStatus_Exception(status)) {
            return status;
        }
    }
    PyStatus status = PyConfig_SetString(config, &config->program_name, PROGRAM);
    if (!PyStatus_Exception(status)) {
        status = PyConfig_SetString(config, &config->executable, PROGRAM);
    }
    if (!PyStatus_Exception(status)) {
        status = PyWideStringList_Append(&config->orig_argv, PROGRAM);
    }
    if (!PyStatus_Exception(status)) {
        status = PyWideStringList_Append(&config->module_search_paths, LIBRARY);
    }
    return PyStatus_Exception(status) ? status : Py_InitializeFromConfig(config);
}

static int start(void) {
    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    PyStatus status = Py_PreInitialize(&before);
    if (!PyStatus_Exception(status) && PyImport_AppendInittab("_host", init_host_module) < 0) {
        status = PyStatus_NoMemory();
    }
    if (!PyStatus_Exception(status)) {
        PyConfig config;
        PyConfig_InitIsolatedConfig(&config);
        status = initialize(&config);
        PyConfig_Clear(&config);
    }
    if (PyStatus_Exception(status)) {
        Py_ExitStatusException(status);
    }
    PyObject *module = PyImport_AddModuleRef("_reactor");
    PyObject *names = module ? PyModule_GetDict(module) : NULL;
    if (!names || PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) < 0) {
        return -1;
    }
    PyObject *done = PyRun_String(REACTOR, Py_file_input, names, names);
    if (!done) {
        return -1;
    }
    Py_DECREF(done);
    reactor = module;
    return 0;
}

EXPORT("turn") int32_t turn(char *source, int32_t len) {
    if (!reactor && start() < 0) {
        PyErr_Print();
        return 1;
    }
    PyObject *text = PyUnicode_FromStringAndSize(source, len);
    PyMem_Free(source);
    PyObject *function = text ? PyObject_GetAttrString(reactor, "turn") : NULL;
    PyObject *result = function ? PyObject_CallFunctionObjArgs(function, text, Py_None, NULL) : NULL;
    int code = 1, unused = 0;
    if (result && !PyArg_ParseTuple(result, "ip", &code, &unused)) {
        code = 1;
    }
    if (PyErr_Occurred()) {
        PyErr_Print();
    }
    Py_XDECREF(result);
    Py_XDECREF(function);
    Py_XDECREF(text);
    return code;
}
