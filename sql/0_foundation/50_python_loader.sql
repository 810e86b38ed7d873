-- The Python that runs inside the server is an ordinary package (plpython/memwarden_core). The build
-- puts its source here, creating the extension compiles it; the first call on a connection loads it, later ones find it in GD.
-- The key is the hash of the source: after ALTER EXTENSION UPDATE an open session loads the new code.
-- GD survives SET ROLE and DISCARD ALL and therefore holds code, and nothing of a tenant's.
CREATE OR REPLACE FUNCTION memwarden_internal.python_source()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $memwarden_python$SELECT @python_sources@$memwarden_python$;
COMMENT ON FUNCTION memwarden_internal.python_source() IS 'The modules of the embedded Python package, path to source, as JSON.';
REVOKE ALL ON FUNCTION memwarden_internal.python_source() FROM PUBLIC;

-- Compiling takes longer than everything else that a new session does, so it is done once: this says what
-- compile_python() has made. It belongs to a superuser, as functions in Python must: who could replace it could run anything.
CREATE OR REPLACE FUNCTION memwarden_internal.compiled_python()
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'SELECT NULL::bytea';
COMMENT ON FUNCTION memwarden_internal.compiled_python() IS
    'The embedded Python package, compiled: a line that names the Python and the source it was made of and for, then by '
    'module its code, marshalled and packed; NULL before compile_python().';
REVOKE ALL ON FUNCTION memwarden_internal.compiled_python() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.python_to_keep()
RETURNS bytea
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
import importlib.util
import json
import marshal
import zlib

made = importlib.util.MAGIC_NUMBER.hex().encode() + b" @python_hash@\n"
there = plpy.execute("SELECT memwarden_internal.compiled_python() AS code")[0]["code"]
if there and there.startswith(made):
    return None
sources = json.loads(plpy.execute("SELECT memwarden_internal.python_source() AS source")[0]["source"])
modules = {n: compile(text, f"<memwarden_core/{n}.py>", "exec") for n, text in sources.items()}
# Each by itself: few of them are needed to write, and fewer to recall.
return made + marshal.dumps({n: zlib.compress(marshal.dumps(code), 9) for n, code in modules.items()})
$function$;
COMMENT ON FUNCTION memwarden_internal.python_to_keep() IS
    'What compiled_python() should answer, for the Python that runs here; NULL where it does.';
REVOKE ALL ON FUNCTION memwarden_internal.python_to_keep() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.compile_python()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_code bytea := memwarden_internal.python_to_keep();
BEGIN
    IF v_code IS NOT NULL THEN
        -- As the function that it replaces, but for its answer.
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION memwarden_internal.compiled_python() RETURNS bytea '
            'LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER SET search_path = pg_catalog, pg_temp '
            'AS $code$SELECT decode(''%s'', ''base64'')$code$', translate(encode(v_code, 'base64'), E'\n', ''));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_python() IS
    'Compiles the embedded Python package for the Python that runs here, unless that is done. For superusers; called '
    'when the extension is created or updated and by setup().';
REVOKE ALL ON FUNCTION memwarden_internal.compile_python() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.load_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
import importlib.machinery
import importlib.util
import json
import marshal
import sys
import zlib

PACKAGE = "memwarden_core_@python_hash@"


# A finder and a loader, though it does not say so: the classes that would bring half a library of files and packages along.
class Embedded:
    """Finds the package's modules; relative imports work under any package name."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, fullname, path=None, target=None):
        if not (fullname + ".").startswith(PACKAGE + "."):
            return None
        is_package = self.file(fullname, "__init__") in self.modules
        if not is_package and self.file(fullname) not in self.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def file(self, fullname, *inside):
        """The module's path below the package, without its ending."""
        return "/".join([*fullname.split(".")[1:], *inside])

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = self.file(module.__name__, *(["__init__"] if hasattr(module, "__path__") else []))
        code = self.modules[name]
        if isinstance(code, str):
            code = compile(code, f"<memwarden_core/{name}.py>", "exec")
        else:
            code = marshal.loads(zlib.decompress(code))
        exec(code, module.__dict__)


if PACKAGE not in sys.modules:
    mine = importlib.util.MAGIC_NUMBER.hex().encode() + b" @python_hash@\n"
    code = plpy.execute("SELECT memwarden_internal.compiled_python() AS code")[0]["code"]
    # Bytecode is of one Python only: after a change of it, sources until setup() compiles them anew.
    if code and code.startswith(mine):
        modules = marshal.loads(code[len(mine):])
    else:
        modules = json.loads(plpy.execute("SELECT memwarden_internal.python_source() AS source")[0]["source"])
    sys.meta_path.insert(0, Embedded(modules))
GD["memwarden:@python_hash@"] = importlib.import_module(PACKAGE + ".server")
$function$;
COMMENT ON FUNCTION memwarden_internal.load_python() IS
    'Loads the embedded Python package into this session. Called by the PL/Python wrappers.';
REVOKE ALL ON FUNCTION memwarden_internal.load_python() FROM PUBLIC;

-- A server that was upgraded in place brings a Python of its own.
CREATE OR REPLACE FUNCTION memwarden_internal.python_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
import importlib.util

made = importlib.util.MAGIC_NUMBER.hex().encode() + b" @python_hash@\n"
there = plpy.execute(f"SELECT substr(memwarden_internal.compiled_python(), 1, {len(made)}) AS head")[0]["head"]
if there == made:
    return [("python", "ok", "compiled for the Python of this server")]
told = 'compiled for another Python: every session compiles it again until a superuser runs: SELECT memwarden.setup();'
return [("python", "outdated", told)]
$function$;
COMMENT ON FUNCTION memwarden_internal.python_status() IS
    'Whether compiled_python() is for the Python that runs here; outdated after an upgrade of the server in place.';
REVOKE ALL ON FUNCTION memwarden_internal.python_status() FROM PUBLIC;

SELECT memwarden_internal.compile_python();

-- Loading takes a tenth of a second: who writes does it before locking a scope, not while others wait there.
CREATE OR REPLACE FUNCTION memwarden_internal.ready_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
GD["memwarden:@python_hash@"].ready()
$function$;
COMMENT ON FUNCTION memwarden_internal.ready_python() IS
    'Loads the embedded Python package into this session, unless it is there.';
REVOKE ALL ON FUNCTION memwarden_internal.ready_python() FROM PUBLIC;
