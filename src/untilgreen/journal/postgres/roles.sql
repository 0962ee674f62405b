-- Who may do what. Repeating it changes nothing.
--
-- A worker drives, begins and commands runs. It can add events but neither change nor remove one, and it can
-- remove a run only before its first event. It can't change settings, such as where Temporal is.
-- A viewer reads. The owner of the schema does the rest: migrations, settings, removing runs.
REVOKE ALL ON SCHEMA $schema FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA $schema FROM PUBLIC, $schema_worker, $schema_viewer;
GRANT USAGE ON SCHEMA $schema TO $schema_worker, $schema_viewer;
GRANT SELECT ON ALL TABLES IN SCHEMA $schema TO $schema_worker, $schema_viewer;
GRANT INSERT, UPDATE, DELETE ON $schema.run TO $schema_worker;
GRANT INSERT ON $schema.event TO $schema_worker;
GRANT INSERT, UPDATE (taken, refused) ON $schema.arrival TO $schema_worker;
GRANT INSERT, DELETE ON $schema.artifact, $schema.shown TO $schema_worker;

ALTER TABLE $schema.run ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS looking ON $schema.run;
DROP POLICY IF EXISTS beginning ON $schema.run;
DROP POLICY IF EXISTS driving ON $schema.run;
DROP POLICY IF EXISTS giving_up ON $schema.run;
CREATE POLICY looking ON $schema.run FOR SELECT USING (true);
CREATE POLICY beginning ON $schema.run FOR INSERT WITH CHECK (seq = 0);
CREATE POLICY driving ON $schema.run FOR UPDATE USING (true);
CREATE POLICY giving_up ON $schema.run FOR DELETE USING (seq = 0 AND size = 0);
