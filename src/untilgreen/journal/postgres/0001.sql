-- The first version of the schema. Applied once, under an advisory lock.
CREATE TABLE $schema.run (
  id       text PRIMARY KEY,
  token    bigint[] NOT NULL DEFAULT '{}',   -- the fence: {generation, drive, attempt}, compared like words
  holder   text NOT NULL DEFAULT '',         -- who drives, for people
  seen     timestamptz,                      -- when the holder last looked, for people
  seq      integer NOT NULL DEFAULT 0,       -- where the journal ends
  size     bigint NOT NULL DEFAULT 0,
  head     text NOT NULL DEFAULT '',
  created  timestamptz NOT NULL DEFAULT now(),
  updated  timestamptz NOT NULL DEFAULT now(),
  row      bytea                             -- what a list shows
);
CREATE TABLE $schema.event (
  run   text NOT NULL REFERENCES $schema.run ON DELETE CASCADE,
  seq   integer NOT NULL,                    -- 0 is the line with the format
  token bigint[] NOT NULL,
  at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  line  bytea NOT NULL,                      -- the very bytes that a file would have
  PRIMARY KEY (run, seq)
);
CREATE TABLE $schema.arrival (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run     text NOT NULL REFERENCES $schema.run ON DELETE CASCADE,
  at      double precision NOT NULL,          -- when it was sent, by the sender's clock
  body    bytea NOT NULL,
  taken   timestamptz,
  refused text
);
CREATE INDEX arrival_waiting ON $schema.arrival (run, id) WHERE taken IS NULL;
CREATE TABLE $schema.artifact (
  run   text NOT NULL REFERENCES $schema.run ON DELETE CASCADE,
  name  text NOT NULL,
  part  integer NOT NULL DEFAULT 0,          -- parts of at most a megabyte, so that no row is large
  token bigint[] NOT NULL,
  data  bytea NOT NULL,
  PRIMARY KEY (run, name, part)
);
CREATE UNLOGGED TABLE $schema.shown (                -- what an agent shows; losing it in a crash loses nothing
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run     text NOT NULL,
  lap     integer NOT NULL,
  attempt integer NOT NULL,
  body    bytea NOT NULL
);
CREATE INDEX shown_of ON $schema.shown (run, lap, attempt, id);
CREATE TABLE $schema.setting (
  name  text PRIMARY KEY,
  value text NOT NULL
);
