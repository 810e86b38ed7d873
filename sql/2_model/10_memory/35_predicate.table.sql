-- The nodes and edges of the constraint graph: what a predicate may say, and what it excludes.
CREATE TABLE memwarden_data.predicate (
    org_id          bigint NOT NULL REFERENCES memwarden_data.organisation,
    predicate       text NOT NULL,
    same_key        text CHECK (same_key IN ('new_version', 'accumulate')),
    inverse         text,
    disjoint        text[] NOT NULL DEFAULT '{}',
    subject_schema  jsonb,
    object_schema   jsonb,
    ends            text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (org_id, predicate)
);
-- Every write asks whether there is any.
CREATE INDEX predicate_constrained ON memwarden_data.predicate (org_id)
    WHERE inverse IS NOT NULL OR disjoint <> '{}' OR subject_schema IS NOT NULL OR object_schema IS NOT NULL;
CREATE INDEX predicate_ended ON memwarden_data.predicate USING gin (ends) WHERE ends <> '{}';
COMMENT ON TABLE memwarden_data.predicate IS 'What is declared of predicates. Inverses and disjoint predicates name each other.';
COMMENT ON COLUMN memwarden_data.predicate.same_key IS
    'new_version: it holds one value at a time; accumulate: several (speaks language). As its layer where null.';
COMMENT ON COLUMN memwarden_data.predicate.inverse IS 'The predicate that says the same from the other side; a symmetric one is its own.';
COMMENT ON COLUMN memwarden_data.predicate.disjoint IS 'Predicates that cannot hold of the same subject and object.';
COMMENT ON COLUMN memwarden_data.predicate.subject_schema IS 'JSON Schema of the subject, as a string; object_schema: of the content.';
COMMENT ON COLUMN memwarden_data.predicate.ends IS
    'Predicates that this one denies: it ends what they say of the same subject with the same value (no longer likes ends likes).';
-- Of what people have several: a second value says nothing against the first. What of these an organisation means otherwise, it defines.
INSERT INTO memwarden_data.predicate (org_id, predicate, same_key)
SELECT 0, n.name, 'accumulate' FROM unnest(ARRAY[
    -- English
    'likes', 'loves', 'enjoys', 'is fond of', 'dislikes', 'hates', 'admires', 'fears', 'is afraid of', 'is interested in',
    'interested in', 'has hobby', 'has interest', 'wants to visit', 'wants to learn', 'allergic to', 'is allergic to', 'has allergy',
    'has allergy to', 'intolerant to', 'is intolerant to', 'has intolerance', 'has condition', 'has symptom', 'diagnosed with',
    'is diagnosed with', 'was diagnosed with', 'suffers from', 'takes medication', 'avoids', 'cannot eat', 'does not eat', 'owns',
    'possesses', 'collects', 'has pet', 'has vehicle', 'has device', 'invested in', 'knows', 'is friends with', 'friend of',
    'is a friend of', 'has friend', 'has colleague', 'colleague of', 'is a colleague of', 'works with', 'collaborates with',
    'follows', 'has child', 'has son', 'has daughter', 'parent of', 'is parent of', 'is a parent of', 'is the parent of',
    'mother of', 'is the mother of', 'father of', 'is the father of', 'has sibling', 'sibling of', 'is a sibling of', 'has brother',
    'has sister', 'brother of', 'is the brother of', 'sister of', 'is the sister of', 'member of', 'is member of', 'is a member of',
    'participates in', 'participated in', 'has participated in', 'attended', 'has attended', 'volunteers at', 'volunteers for',
    'subscribes to', 'is subscribed to', 'speaks', 'speaks language', 'knows language', 'understands language', 'visited',
    'has visited', 'has been to', 'traveled to', 'travelled to', 'has traveled to', 'has travelled to', 'has lived in',
    'has worked at', 'has worked for', 'has studied at', 'has studied', 'has skill', 'skilled in', 'is skilled in', 'is good at',
    'has experience with', 'has experience in', 'certified in', 'is certified in', 'has certification', 'has degree',
    'has degree in', 'has award', 'won', 'has won', 'plays', 'plays instrument', 'plays sport', 'can play', 'is learning', 'teaches',
    'mentors', 'supervises', 'manages', 'responsible for', 'is responsible for', 'uses', 'has read', 'has watched', 'has seen',
    'has written', 'author of', 'is author of', 'is the author of', 'founded', 'has founded', 'created', 'also known as',
    'is also known as', 'has alias',
    -- German
    'mag', 'mag gern', 'mag gerne', 'liebt', 'hasst', 'mag nicht', 'bewundert', 'interessiert sich für', 'hat hobby',
    'allergisch gegen', 'ist allergisch gegen', 'hat allergie gegen', 'leidet an', 'leidet unter', 'nimmt medikament', 'meidet',
    'vermeidet', 'besitzt', 'sammelt', 'hat haustier', 'kennt', 'befreundet mit', 'ist befreundet mit', 'arbeitet zusammen mit',
    'hat kind', 'hat sohn', 'hat tochter', 'mutter von', 'ist mutter von', 'vater von', 'ist vater von', 'hat bruder',
    'hat schwester', 'mitglied von', 'ist mitglied von', 'mitglied in', 'ist mitglied in', 'mitglied bei', 'ist mitglied bei',
    'nimmt teil an', 'spricht', 'spricht sprache', 'besuchte', 'hat besucht', 'war in', 'spielt', 'unterrichtet', 'leitet an',
    'verantwortlich für', 'ist verantwortlich für', 'nutzt', 'benutzt', 'verwendet', 'hat gelesen', 'hat gesehen', 'hat geschrieben',
    'auch bekannt als',
    -- Dutch
    'houdt van', 'vindt leuk', 'haat', 'bewondert', 'is geïnteresseerd in', 'heeft hobby', 'allergisch voor', 'is allergisch voor',
    'heeft allergie voor', 'lijdt aan', 'gebruikt medicijn', 'vermijdt', 'bezit', 'verzamelt', 'heeft huisdier', 'kent',
    'bevriend met', 'is bevriend met', 'werkt samen met', 'heeft kind', 'heeft zoon', 'heeft dochter', 'moeder van', 'is moeder van',
    'vader van', 'is vader van', 'heeft broer', 'heeft zus', 'lid van', 'is lid van', 'neemt deel aan', 'spreekt', 'spreekt taal',
    'bezocht', 'heeft bezocht', 'is geweest in', 'speelt', 'geeft les in', 'verantwoordelijk voor', 'is verantwoordelijk voor',
    'gebruikt', 'heeft gelezen', 'heeft gezien', 'heeft geschreven', 'ook bekend als',
    -- French
    'aime', 'aime bien', 'adore', 'déteste', 'n''aime pas', 'admire', 's''intéresse à', 's''intéresse au', 's''intéresse aux',
    'a pour loisir', 'allergique à', 'allergique au', 'allergique aux', 'est allergique à', 'est allergique au',
    'est allergique aux', 'souffre de', 'souffre d', 'évite', 'possède', 'collectionne', 'a pour animal', 'connaît', 'ami de',
    'amie de', 'est ami de', 'est amie de', 'travaille avec', 'a pour enfant', 'a pour fils', 'a pour fille', 'mère de',
    'est la mère de', 'père de', 'est le père de', 'a pour frère', 'a pour sœur', 'membre de', 'est membre de', 'participe à',
    'participe au', 'parle', 'parle la langue', 'a visité', 'est allé à', 'est allée à', 'joue de', 'joue du', 'joue à', 'joue au',
    'enseigne', 'responsable de', 'est responsable de', 'utilise', 'a lu', 'a vu', 'a écrit', 'aussi connu comme',
    'aussi connue comme',
    -- Spanish
    'le gusta', 'le gustan', 'le encanta', 'le encantan', 'ama', 'adora', 'odia', 'no le gusta', 'no le gustan', 'admira',
    'le interesa', 'le interesan', 'tiene afición', 'alérgico a', 'alérgica a', 'es alérgico a', 'es alérgica a', 'tiene alergia a',
    'sufre de', 'padece', 'padece de', 'evita', 'posee', 'colecciona', 'tiene mascota', 'conoce a', 'amigo de', 'amiga de',
    'es amigo de', 'es amiga de', 'trabaja con', 'tiene hijo', 'tiene hija', 'madre de', 'es madre de', 'padre de', 'es padre de',
    'tiene hermano', 'tiene hermana', 'miembro de', 'es miembro de', 'participa en', 'habla', 'habla idioma', 'visitó',
    'ha visitado', 'ha estado en', 'juega a', 'juega al', 'toca', 'enseña', 'es responsable de', 'usa', 'utiliza', 'ha leído',
    'ha visto', 'ha escrito', 'también conocido como', 'también conocida como',
    -- Portuguese
    'gosta de', 'gosta do', 'gosta da', 'odeia', 'não gosta de', 'interessa se por', 'se interessa por', 'tem passatempo',
    'é alérgico a', 'é alérgica a', 'tem alergia a', 'sofre de', 'possui', 'coleciona', 'tem animal de estimação', 'conhece',
    'é amigo de', 'é amiga de', 'trabalha com', 'tem filho', 'tem filha', 'mãe de', 'é mãe de', 'pai de', 'é pai de', 'tem irmão',
    'tem irmã', 'membro de', 'é membro de', 'participa de', 'participa em', 'fala', 'fala idioma', 'visitou', 'já visitou',
    'esteve em', 'joga', 'ensina', 'responsável por', 'é responsável por', 'leu', 'já leu', 'viu', 'já viu', 'escreveu',
    'também conhecido como', 'também conhecida como'
]) AS n (name);
INSERT INTO memwarden_data.predicate (org_id, predicate, same_key, ends)
SELECT 0, n.name, 'accumulate', n.ends::text[] FROM (VALUES
    ('no longer likes', '{likes}'), ('no longer loves', '{loves}'), ('no longer enjoys', '{enjoys}'),
    ('no longer dislikes', '{dislikes}'), ('no longer hates', '{hates}'),
    ('no longer interested in', '{"interested in","is interested in"}'),
    ('is no longer interested in', '{"interested in","is interested in"}'),
    ('no longer allergic to', '{"allergic to","is allergic to","has allergy to","has allergy"}'),
    ('is no longer allergic to', '{"allergic to","is allergic to","has allergy to","has allergy"}'),
    ('no longer suffers from', '{"suffers from"}'), ('no longer avoids', '{avoids}'),
    ('no longer takes medication', '{"takes medication"}'), ('no longer owns', '{owns,possesses}'),
    ('no longer collects', '{collects}'), ('no longer knows', '{knows}'),
    ('no longer friends with', '{"is friends with","friend of","is a friend of"}'),
    ('is no longer friends with', '{"is friends with","friend of","is a friend of"}'), ('no longer works with', '{"works with"}'),
    ('no longer member of', '{"member of","is member of","is a member of"}'),
    ('is no longer member of', '{"member of","is member of","is a member of"}'),
    ('is no longer a member of', '{"member of","is member of","is a member of"}'),
    ('no longer participates in', '{"participates in"}'), ('no longer subscribes to', '{"subscribes to","is subscribed to"}'),
    ('no longer speaks', '{speaks}'), ('no longer plays', '{plays}'), ('no longer uses', '{uses}'),
    ('no longer manages', '{manages}'), ('no longer responsible for', '{"responsible for","is responsible for"}'),
    ('is no longer responsible for', '{"responsible for","is responsible for"}'), ('mag nicht mehr', '{mag,"mag gern","mag gerne"}'),
    ('liebt nicht mehr', '{liebt}'), ('ist nicht mehr allergisch gegen', '{"allergisch gegen","ist allergisch gegen"}'),
    ('besitzt nicht mehr', '{besitzt}'), ('spielt nicht mehr', '{spielt}'), ('nutzt nicht mehr', '{nutzt}'),
    ('verwendet nicht mehr', '{verwendet}'), ('ist nicht mehr mitglied von', '{"mitglied von","ist mitglied von"}'),
    ('houdt niet meer van', '{"houdt van"}'), ('is niet meer allergisch voor', '{"allergisch voor","is allergisch voor"}'),
    ('bezit niet meer', '{bezit}'), ('speelt niet meer', '{speelt}'), ('gebruikt niet meer', '{gebruikt}'),
    ('is geen lid meer van', '{"lid van","is lid van"}'), ('n''aime plus', '{aime,"aime bien"}'),
    ('n''est plus allergique à', '{"allergique à","est allergique à"}'), ('ne possède plus', '{possède}'),
    ('n''utilise plus', '{utilise}'), ('n''est plus membre de', '{"membre de","est membre de"}'), ('ya no le gusta', '{"le gusta"}'),
    ('ya no le gustan', '{"le gustan"}'), ('ya no es alérgico a', '{"alérgico a","es alérgico a"}'),
    ('ya no es alérgica a', '{"alérgica a","es alérgica a"}'), ('ya no posee', '{posee}'), ('ya no usa', '{usa}'),
    ('ya no es miembro de', '{"miembro de","es miembro de"}'), ('não gosta mais de', '{"gosta de"}'),
    ('já não gosta de', '{"gosta de"}'), ('não é mais alérgico a', '{"alérgico a","é alérgico a"}'),
    ('não é mais alérgica a', '{"alérgica a","é alérgica a"}'), ('não possui mais', '{possui}'), ('não usa mais', '{usa}'),
    ('não é mais membro de', '{"membro de","é membro de"}')
) AS n (name, ends);
