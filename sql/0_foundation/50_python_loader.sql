-- The Python that runs inside the server is an ordinary package (plpython/memwarden_core). The build
-- puts its source here, creating the extension compiles it; the first call on a connection loads it, later ones find it in GD.
-- The key is the hash of the source: after ALTER EXTENSION UPDATE an open session loads the new code.
-- GD survives SET ROLE and DISCARD ALL and therefore holds code, and nothing of a tenant's.
CREATE OR REPLACE FUNCTION memwarden_internal.python_source()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $memwarden_python$SELECT @python_sources@$memwarden_python$;
COMMENT ON FUNCTION memwarden_internal.python_source IS 'The modules of the embedded Python package, path to source, as JSON.';

-- Compiling takes longer than everything else that a new session does, so it is done once: compile_python() puts the result
-- here. The table belongs to a superuser, as functions in Python must: who could change it could run anything. It is a member
-- of the extension, so a dump leaves it out, and creating the extension fills it for the Python that is there.
CREATE TABLE IF NOT EXISTS memwarden_internal.python_code (
    made_of text PRIMARY KEY,
    modules bytea NOT NULL
);
-- What each session begins with lies in one row, and every other module in a row of its own, packed, which a session reads
-- when it first asks for it. Packing what each session reads would take longer than reading it.
ALTER TABLE memwarden_internal.python_code ALTER COLUMN modules SET STORAGE EXTERNAL;
COMMENT ON TABLE memwarden_internal.python_code IS
    'The embedded Python package, compiled. made_of names the Python and the source, and the module where it is one alone. modules is '
    'marshalled: the code, and the tables that a module works out (KEPT), by module.';
REVOKE ALL ON memwarden_internal.python_code FROM PUBLIC;
GRANT SELECT ON memwarden_internal.python_code TO memwarden_owner;

CREATE OR REPLACE FUNCTION memwarden_internal.compile_modules()
RETURNS TABLE (made_of text, modules bytea)
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import importlib.util
import json
import marshal
import sys
import zlib

PACKAGE = "memwarden_core_@python_hash@"
made_of = importlib.util.MAGIC_NUMBER.hex() + " @python_hash@"
if any(row["made_of"] == made_of for row in plpy.execute("SELECT made_of FROM memwarden_internal.python_code")):
    return []
sources = json.loads(plpy.execute("SELECT memwarden_internal.python_source() AS source")[0]["source"])


def name(path):
    return ".".join([PACKAGE, *path.split("/")]).removesuffix(".__init__")


plpy.execute("SELECT memwarden_internal.ready_python()")
first, rows = {}, []
for path in sorted(sources):
    text = sources[path]
    begins = name(path) in sys.modules
    code = compile(text, f"<memwarden_core/{path}.py>", "exec")
    kept = importlib.import_module(name(path)).KEPT if "\nKEPT = " in text else None
    if begins:
        first[path] = code, kept
    else:
        first[path] = None
        rows.append((made_of + " " + path, zlib.compress(marshal.dumps((code, kept)), 9)))
return [(made_of, marshal.dumps(first)), *rows]
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_modules IS
    'The rows of python_code for the Python that runs here; none where the table has them.';

CREATE OR REPLACE FUNCTION memwarden_internal.compile_python()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_new      record;
    v_is_empty boolean := false;
BEGIN
    FOR v_new IN SELECT k.made_of, k.modules FROM memwarden_internal.compile_modules() AS k LOOP
        IF NOT v_is_empty THEN
            DELETE FROM memwarden_internal.python_code;
            v_is_empty := true;
        END IF;
        INSERT INTO memwarden_internal.python_code VALUES (v_new.made_of, v_new.modules);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_python IS
    'Compiles the embedded Python package for the Python that runs here, unless that is done. For superusers; called '
    'when the extension is created or updated and by setup().';

CREATE OR REPLACE FUNCTION memwarden_internal.load_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import gc
import importlib.machinery
import importlib.util
import marshal
import sys

PACKAGE = "memwarden_core_@python_hash@"


# A finder and a loader, though it does not say so: the classes that would bring half a library of files and packages along.
class Embedded:
    """Finds the package's modules; relative imports work under any package name."""

    def __init__(self, made_of, modules):
        self.made_of = made_of
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
        path = self.file(module.__name__, *(["__init__"] if hasattr(module, "__path__") else []))
        found = self.modules[path] or self.row(path) or self.source(path)
        code, kept = (compile(found, f"<memwarden_core/{path}.py>", "exec"), None) if isinstance(found, str) else found
        if kept is not None:
            module.KEPT = kept
        exec(code, module.__dict__)
        # A module is loaded once: what it was loaded from need not stay.
        self.modules[path] = None

    def row(self, path):
        """A module that lies in a row of its own."""
        import zlib

        plan = plpy.prepare("SELECT c.modules FROM memwarden_internal.python_code AS c WHERE c.made_of = $1", ["text"])
        rows = plan.execute([f"{self.made_of} {path}"])
        return marshal.loads(zlib.decompress(rows[0]["modules"])) if rows else None

    def source(self, path):
        """A module whose row is gone, since this session began."""
        return sources()[path]


def sources():
    import json

    return json.loads(plpy.execute("SELECT memwarden_internal.python_source() AS source")[0]["source"])


if PACKAGE not in sys.modules:
    made_of = importlib.util.MAGIC_NUMBER.hex() + " @python_hash@"
    kept = plpy.execute(f"SELECT c.modules FROM memwarden_internal.python_code AS c WHERE c.made_of = '{made_of}'")
    # Bytecode is of one Python only: after a change of it, sources until setup() compiles them anew.
    if kept:
        modules = marshal.loads(kept[0]["modules"])
    else:
        modules = sources()
    sys.meta_path.insert(0, Embedded(made_of, modules))
# Nothing that loading makes is garbage: looking for some takes a twentieth of it.
collects = gc.isenabled()
gc.disable()
try:
    GD["memwarden:@python_hash@"] = importlib.import_module(PACKAGE + ".server")
finally:
    if collects:
        gc.enable()
$function$;
COMMENT ON FUNCTION memwarden_internal.load_python IS
    'Loads the embedded Python package into this session. Called by the PL/Python wrappers.';

-- A server that was upgraded in place brings a Python of its own.
CREATE OR REPLACE FUNCTION memwarden_internal.python_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import importlib.util

made_of = importlib.util.MAGIC_NUMBER.hex() + " @python_hash@"
if any(row["made_of"] == made_of for row in plpy.execute("SELECT made_of FROM memwarden_internal.python_code")):
    return [("python", "ok", "compiled for the Python of this server")]
told = 'compiled for another Python: every session compiles it again until a superuser runs: SELECT memwarden.setup();'
return [("python", "outdated", told)]
$function$;
COMMENT ON FUNCTION memwarden_internal.python_status IS
    'Whether python_code is for the Python that runs here; outdated after an upgrade of the server in place.';

-- Loading takes some hundredths of a second: who writes does it before locking a scope, not while others wait there.
CREATE OR REPLACE FUNCTION memwarden_internal.ready_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
GD["memwarden:@python_hash@"].ready()
$function$;
COMMENT ON FUNCTION memwarden_internal.ready_python IS
    'Loads the embedded Python package into this session, unless it is there.';

SELECT memwarden_internal.compile_python();
