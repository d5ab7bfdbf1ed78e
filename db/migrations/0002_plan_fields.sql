-- Plans of release 0.1 name a folder that only tests ever set; a plan has no such field.
UPDATE trials SET plan_json = json_remove(plan_json, '$.dump_gradients_dir')
WHERE CASE WHEN json_valid(plan_json)
           THEN json_type(plan_json, '$.dump_gradients_dir') IS NOT NULL ELSE 0 END;
