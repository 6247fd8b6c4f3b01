"""Names on the command line of a trial, and in its reports."""
ST_CHECKPOINT_DIR = 'st_checkpoint_dir'
ST_CONFIG_JSON_FNAME_ARG = 'st_config_json_filename'
ST_WORKER_TIMESTAMP = 'st_worker_timestamp'  # s since 1970
ST_WORKER_TIME = 'st_worker_time'  # s since the Reporter was made
ST_WORKER_ITER = 'st_worker_iter'  # 0, 1, ...
