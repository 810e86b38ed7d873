-- What a language has words for, the same for every tenant: no memory, and nobody's. So these tables have no organisation. Only
-- functions of the engine read them.
CREATE TABLE memwarden_data.lexicon (
    language   text PRIMARY KEY CHECK (language ~ '^[a-z][a-z0-9_]{0,62}$'),
    -- Where the server has its files. The rest is NULL until they are loaded.
    folder     text NOT NULL CHECK (starts_with(folder, '/') AND length(folder) <= 1000),
    -- Of the files that were read, and of how they were read.
    digest     bytea CHECK (octet_length(digest) = 32),
    -- The licence that stands at the head of the files: it goes with every copy of them.
    notice     text,
    words      bigint,
    senses     bigint,
    loaded_at  timestamptz
);
COMMENT ON TABLE memwarden_data.lexicon IS 'Which dictionaries the judge is to ask, one for a language, and which are loaded.';
-- Where the Debian package wordnet-base puts them.
INSERT INTO memwarden_data.lexicon (language, folder) VALUES ('english', '/usr/share/wordnet');

CREATE TABLE memwarden_data.lexicon_word (
    word      text NOT NULL,
    language  text NOT NULL,
    sense     integer NOT NULL,
    -- The first is what the word means most often, as this part of speech.
    rank      smallint NOT NULL,
    PRIMARY KEY (word, language, sense)
);
COMMENT ON TABLE memwarden_data.lexicon_word IS
    'The senses of each word of a dictionary; of names of several words with _ between them.';

CREATE TABLE memwarden_data.lexicon_sense (
    language  text NOT NULL,
    sense     integer NOT NULL,
    part      text NOT NULL,
    file      smallint NOT NULL,
    -- What is more general than it, and how many steps up.
    above     integer[] NOT NULL,
    steps     smallint[] NOT NULL,
    -- Its opposites.
    against   integer[],
    PRIMARY KEY (language, sense)
);
COMMENT ON TABLE memwarden_data.lexicon_sense IS
    'What a dictionary has on each sense: its lexicographer file, what is above it, its opposites.';
