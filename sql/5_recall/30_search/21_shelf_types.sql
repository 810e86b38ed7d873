CREATE TYPE memwarden_internal.shelved_vector AS (
    item_id    uuid,
    embedding  @extschema:vector@.halfvec
);
COMMENT ON TYPE memwarden_internal.shelved_vector IS 'A vector on a shelf, and whose it is.';

CREATE TYPE memwarden_internal.asked_word AS (
    lexeme     text,
    share      double precision,
    term       tsquery,
    holders    double precision,
    weight     double precision,
    is_common  boolean
);

CREATE TYPE memwarden_internal.shelf_sample AS (
    home         text,
    config       text,
    items        bigint,
    words        bigint,
    least        double precision,
    words_asked  memwarden_internal.asked_word[],
    is_counted   boolean
);
COMMENT ON TYPE memwarden_internal.asked_word IS
    'A word of a question: how much it counts, what finds it, how many memories of a shelf have it, what it weighs by '
    'that, and whether so many have it that this is known without looking them up.';
COMMENT ON TYPE memwarden_internal.shelf_sample IS
    'What the memories of a shelf (home: scope and layer) are like that somebody may read: how many there are, how many words they '
    'have, their least cosine to what is asked, and how many have the words that are asked for. is_counted: the job has counted all of '
    'them, and somebody reads all.';
