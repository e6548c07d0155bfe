"""Which rows of the requirements this project claims, and the tests that show each.

``tests/unit/docs/test_requirements.py`` fails on a row without a test, a test that is gone, a row not listed here
and a test that claims more than three, so that a claim means something.
"""

from collections.abc import Mapping


def _rows(prefix: str, *numbers: int | range) -> list[str]:
    flat = [n for number in numbers for n in (number if isinstance(number, range) else (number,))]
    return [f"{prefix}{n:02d}" for n in flat]


ROWS: frozenset[str] = frozenset(
    _rows("B-", range(1, 22), range(23, 45), 48, 49, 50)
    + _rows("M-", range(60, 70))
    + _rows("C", range(1, 10), 23)
    + _rows("T", 1, 6, 9, range(11, 15))
    + _rows("E-", 7, 43, 61)
    + _rows("E-", range(1, 6), 8, 9, 10, 13, 37, 40, 44, 46, 93, 95, range(101, 106))  # what scratch graphs are for
    + _rows("G-", range(1, 73), 74, 75, 77, 78, range(79, 84))
    + _rows("M-", range(6, 10), 13, 14, 40, range(70, 74), range(80, 98), 101)
    + _rows("C", 16, range(17, 23), 24, 25, 27, 28, 31, 41, range(43, 47), range(51, 57))
    + _rows("K-", range(1, 6), range(7, 12), 15, range(18, 23), range(24, 43), 48, 49, 50, 89, 90, 92, 95, 96)
    + _rows("K-", range(52, 58), range(59, 65), range(66, 73), 93)  # documents; no file of them is kept (ADR 62)
    + _rows("K-", 6, 12, 13, 14, 16, 17, 23, 43, 44, 46, 47, 78, 88, 91, 97, 98)  # checks, and what is stored
    + _rows("T", 85, 89)
    + _rows("T", range(91, 101))
    + _rows("K-", range(73, 77), range(78, 88), 94)  # staging; its target_graph is group_id (ADR 63)
    + _rows("C", 29, 30, 48)
    + _rows("T", 82, 83, 84)
    + _rows("E-", 11, 12, 14, 15, 32, 50, range(67, 74), 75, 94, 97)  # analyses
    + _rows("M-", range(1, 6), 10, 11, 12, range(15, 34))  # projects
    + _rows("M-", range(34, 40), range(41, 60))
    + _rows("M-", range(74, 80), 98, 100, 102, 104, 105, 107, 108, 109, 110)
    + _rows("C", 26, 47)
    + _rows("T", 40, 41, range(45, 51))
    + _rows("T", 28, 65, 73, range(74, 82))
    + _rows("E-", range(2, 5), 6, 13, range(15, 37), range(38, 46))  # scratch graphs
    + _rows("E-", range(47, 50), range(51, 61), range(62, 67), 74, range(84, 90), 102, 103)
    + _rows("C", range(33, 39), 40)
    + _rows("T", 56, 58, 59, 69, 71, 72)
    + _rows("E-", 90, 91, 98)  # the bridge to memory
    + _rows("C", 14, 42)
    + _rows("E-", range(76, 84), 96, 99, 100)  # texts and pictures
    + _rows("C", 39)
    + _rows("T", 66, 67)
    + _rows("T", range(60, 65), 86, 90)
    + _rows("T", range(2, 6), 7, 8, 10, range(15, 28), range(29, 40), 42, 43, 44, range(51, 56), 57, 68, 70, 87, 88)
)

MOST_ROWS_A_TEST = 3
"""The most of one test."""

SHOWN_BY: Mapping[str, Mapping[str, str]] = {
    "acceptance/test_hub.py": {
        "test_all_facts_of_a_hub_come_back_exactly_once": "G-39 T15 M-102",
    },
    "acceptance/test_journal.py": {
        "test_timeline_totals_of_ten_names_equal_an_independent_count": "G-33 G-20",
    },
    "acceptance/test_journal_at_two_dates.py": {
        "test_what_changed_between_two_dates_is_the_difference_of_two_graphs": "E-90",
    },
    "acceptance/test_other_servers.py": {
        "test_a_client_of_mcp_neo4j_memory_is_answered_as_there": "M-68 B-48",
        "test_the_prompt_of_mcp_neo4j_memorys_readme_works_unchanged": "M-68",
    },
    "acceptance/test_own_imports.py": {
        "test_the_graph_is_the_package": "E-08",
        "test_the_path_from_the_command_to_the_graph": "E-46",
        "test_sessions_matching_engine_and_formats_are_modules_with_tests_of_their_own": "E-37",
    },
    "acceptance/test_scratch_interactions.py": {
        "test_interaction_1_a_default_graph_answers_how_two_things_hang_together": "E-101 E-01 E-05",
        "test_interaction_2_two_graphs_by_name_without_any_set_up": "E-102 E-03",
        "test_interaction_3_an_edge_by_natural_names": "E-103 E-04",
        "test_interaction_4_found_again_after_the_context_was_lost": "E-104 E-40",
        "test_interaction_5_dot_in_and_the_first_three": "E-105",
        "test_a_restart_leaves_no_graph": "E-02 E-44",
        "test_research_foundations_bridges_and_the_way_of_citations": "E-09",
        "test_debugging_the_best_supported_hypothesis_and_what_nothing_explains": "E-10 E-13 E-14",
    },
    "contracts/test_graph_curation.py": {
        "test_a_report_counts_entities_flags_confidence_and_who_made_what_is_doubtful": "K-49",
    },
    "contracts/test_graph_connections.py": {
        "test_neighbour_counts_sum_to_the_total_under_the_same_filter": "G-82",
    },
    "contracts/test_graph_embedding.py": {
        "test_new_vectors_go_to_what_has_none_and_leave_others": "C51",
        "test_after_a_change_of_model_only_vectors_of_the_new_dimension_are_there": "C51 T42",
    },
    "contracts/test_graph_projects.py": {
        "test_a_project_is_read_with_its_entity_its_entries_and_the_last_of_them": "T40",
        "test_episodes_are_filtered_by_entry_project_and_type_before_the_page_is_cut": "T41",
    },
    "contracts/test_journal_embedding.py": {
        "test_the_first_model_is_recorded_and_stays": "C51",
    },
    "e2e/isolation_suite.py": {
        "test_after_all_of_it_her_memory_is_as_it_was": "C41",
    },
    "e2e/test_audit_command.py": {
        "test_what_two_workers_wrote_and_refused_is_in_one_table": "K-09",
    },
    "e2e/test_bad_input_arguments.py": {
        "test_a_wrong_argument_is_explained_and_nothing_is_stored": "G-62 T34 T18",
    },
    "e2e/test_bad_input_texts.py": {
        "test_a_query_of_stop_words_or_syntax_is_only_words": "T05",
    },
    "e2e/test_cli_commands.py": {
        "test_the_log_begins_with_version_data_directory_env_file_and_settings_with_their_origin": "T52",
    },
    "e2e/test_cli_doctor.py": {
        "test_doctor_tells_every_setting_with_its_origin_and_the_env_file_it_used": "T52",
    },
    "e2e/test_cli_ingest.py": {
        "test_a_file_for_staging_is_there_with_what_it_states_and_a_second_run_adds_nothing": "K-75",
    },
    "e2e/test_cli_staging.py": {
        "test_staging_is_searched_counted_and_compared_when_it_is_named": "K-74 K-76",
    },
    "e2e/test_cli_reembed.py": {
        "test_from_the_local_model_to_a_service_beside_a_running_server": "C51 T42 M-71",
        "test_there_and_back_again_a_memory_is_what_it_was": "C51",
        "test_killed_in_the_middle_it_goes_on_and_ends_as_if_undisturbed": "C51",
        "test_with_the_service_away_a_memory_is_stored_and_found_by_words_and_its_vectors_follow": "M-40",
        "test_a_backup_of_another_model_is_restored_and_told_how_to_go_on": "C51",
    },
    "e2e/test_cli_reextract.py": {
        "test_an_episode_is_read_again_and_the_difference_told": "M-13 C16",
    },
    "e2e/test_client_snippets.py": {
        "test_the_command_of_a_snippet_serves": "G-60",
    },
    "e2e/test_container_entrypoint.py": {
        "test_as_the_image_starts_it_it_answers_health_and_lists_the_tools": "G-74",
    },
    "e2e/test_draining.py": {
        "test_a_job_goes_back_to_the_queue_without_an_attempt_and_who_waits_for_it_is_answered": "T24",
    },
    "e2e/test_extraction.py": {
        "test_what_a_model_finds_is_told_searched_and_kept_by_its_receipt": "T23 C25",
        "test_nonsense_fails_with_its_reason_and_a_retry_after_repair_succeeds": "M-14 T51",
        "test_a_killed_server_hands_its_job_over_within_the_lease": "T24 T26",
        "test_a_saga_is_told_and_summed_up_and_communities_are_built_through_a_server": "G-65 G-68",
    },
    "e2e/test_foreign_configuration.py": {
        "test_its_env_file_serves_a_memory_on_its_neo4j": "M-84 M-85",
    },
    "e2e/test_hosts.py": {
        "test_a_killed_host_takes_nothing_acknowledged_along_and_the_other_goes_on": "K-50",
    },
    "e2e/test_isolation_access.py": {
        "test_a_service_speaks_for_whom_one_clean_header_names_and_for_nobody_else": "C41",
    },
    "e2e/test_isolation_over_time.py": {
        "test_what_is_read_stays_the_same_while_others_write": "C41",
    },
    "e2e/test_librechat_users.py": {
        "test_two_users_of_one_token_see_only_their_own_and_no_call_takes_long": "C41",
    },
    "e2e/test_main_job.py": {
        "test_the_main_job_works_over": "G-56 G-60 T23",
        "test_a_timeline_tells_how_a_project_went_on_from_week_to_week": "G-57",
        "test_searching_first_makes_what_is_known_of_an_entity_grow": "G-58",
        "test_work_and_wellbeing_are_answered_from_one_memory": "G-59",
    },
    "e2e/test_npm_clients.py": {
        "test_reading_text_alone_it_searches_explores_pages_and_deletes": "G-60",
        "test_it_lists_and_calls_every_tool": "G-61",
        "test_the_inspectors_strict_lint_passes": "G-61",
    },
    "e2e/test_other_names.py": {
        "test_momento_serves_a_client_that_starts_it_without_a_word": "M-96",
        "test_transport_address_port_and_path_are_those_that_were_named": "M-91 M-92 M-94",
    },
    "e2e/test_scratch_people.py": {
        "test_everybody_finds_their_own_graphs_and_nobody_elses": "E-06 C41 T72",
    },
    "e2e/test_scratch_stdio.py": {
        "test_an_analysis_in_a_process_of_its_own_leaves_the_pipe_to_the_protocol": "E-94",
    },
    "e2e/test_sqlite.py": {
        "test_a_query_that_fails_puts_no_text_into_an_answer_or_a_log": "T35",
    },
    "e2e/test_start_refusals.py": {
        "test_an_address_that_others_may_reach_is_refused_with_what_to_do": "C55",
    },
    "e2e/test_stdio_server.py": {
        "test_stdout_holds_protocol_frames_only_and_stderr_no_content": "T37",
    },
    "e2e/test_token_connections.py": {
        "test_another_token_costs_no_connection": "T88",
    },
    "integration/test_api_embedder.py": {
        "test_the_request_names_model_and_dimension_and_vectors_come_in_order_with_length_one": "M-71 T42",
        "test_every_configuration_of_the_page_works": "M-71 M-88",
    },
    "integration/test_projects.py": {
        "test_a_rebuild_gives_the_same_projects_entries_pins_and_memories": "M-29",
        "test_an_entry_goes_with_its_episode_and_the_project_with_its_entity": "M-28",
        "test_an_entry_is_unchanged_embedded_and_found_without_shared_words": "M-02 M-05",
        "test_first_and_last_seen_are_those_of_the_notes_and_not_of_the_writing": "M-16 T49",
        "test_entries_are_found_by_project_and_time_through_an_index": "M-77 M-79",
        "test_neo4j_has_the_indexes_of_entries": "M-76 M-77",
    },
    "integration/test_summaries.py": {
        "test_a_saga_is_summarised_in_steps": "G-65",
        "test_graphiti_reads_a_saga_and_finds_communities": "G-65 G-68",
        "test_communities_are_built_and_made_anew_by_a_rebuild": "G-68",
    },
    "integration/test_doctor_model.py": {
        "test_a_model_that_does_not_answer_is_a_fault_with_its_remedy_and_without_the_key": "T53",
    },
    "integration/test_doctor_server.py": {
        "test_a_neo4j_server_is_told_and_one_that_refuses_the_password_is_a_fault_that_names_the_setting": "M-86 T53",
    },
    "integration/test_embedder.py": {
        "test_vectors_are_unit_float32_of_the_dimension": "M-70",
    },
    "integration/test_extraction_queue.py": {
        "test_two_processes_never_get_the_same_job_nor_two_of_one_group": "T24",
    },
    "integration/test_journal_embedding.py": {
        "test_an_older_journal_with_vectors_has_those_of_the_only_model_there_was": "C51",
    },
    "integration/test_language_model.py": {
        "test_neither_key_nor_text_is_in_an_error_or_a_log_of_anybody": "T53",
    },
    "integration/test_migrating.py": {
        "test_everything_of_a_group_is_in_the_other_and_is_found_there": "T91 K-80",
        "test_sagas_documents_and_quotes_are_in_the_other_group_and_leave_with_a_move": "K-79 K-83",
    },
    "integration/test_models_page.py": {
        "test_the_page_says_what_leaves_the_machine_in_each_mode": "T44",
    },
    "integration/test_neo4j_roles.py": {
        "test_a_real_server_understands_every_line_and_community_refuses_it": "K-10",
        "test_a_contributor_may_make_exactly_what_our_queries_make": "T87",
        "test_the_pages_say_what_it_guards_against_and_what_not": "K-11 C43",
    },
    "integration/test_pipeline.py": {
        "test_no_reading_plan_retired_fact_or_side_data_is_shown_to_the_model": "T29",
    },
    "integration/test_pipeline_care.py": {
        "test_the_graph_is_the_same_to_the_last_byte": "T26",
    },
    "integration/test_rows_bounds.py": {
        "test_every_read_tool_stays_within_the_budget": "B-05 T11",
        "test_what_a_bounded_page_leaves_out_comes_on_the_next_ones": "B-05",
        "test_pages_at_default_limits_follow_each_other": "B-05",
        "test_ordinary_answers_hold_as_many_items_as_the_catalogues_limits_promise": "B-05",
        "test_resources_stay_within_the_budget_of_the_largest_answers": "B-05",
        "test_thousands_of_parallel_facts_are_capped_newest_first_with_their_total": "T03",
    },
    "integration/test_rows_bridge.py": {
        "test_a_bounded_part_of_memory_is_loaded_and_memory_is_unchanged": "E-90 C42",
        "test_a_graph_is_committed_once_and_only_when_asked_twice": "E-91 C14",
    },
    "integration/test_rows_dependencies.py": {
        "test_the_default_toolset_starts_with_the_base_install_and_no_extra": "G-71",
        "test_scratch_graphs_come_with_the_base_install_without_torch": "E-93",
        "test_graphiti_core_is_the_published_package_unchanged": "G-70",
        "test_nothing_of_graphiti_is_replaced_at_run_time": "G-70",
        "test_the_server_is_written_against_the_second_generation_of_the_sdk": "T36",
        "test_graphitis_telemetry_is_off_unless_the_user_turned_it_on": "T38",
        "test_the_documentation_says_that_telemetry_is_off_and_how_to_turn_it_on": "T38",
        "test_the_version_range_of_graphiti_ends_before_the_next_one_that_may_move_things": "T39",
        "test_the_models_of_graphiti_have_the_fields_we_read_and_write": "T39",
        "test_graphiti_parses_records_by_the_functions_we_call": "T39",
        "test_graphiti_saves_under_the_labels_and_properties_we_share": "T39",
        "test_the_driver_overrides_only_methods_that_graphiti_still_has": "T39",
    },
    "integration/test_rows_episodes.py": {
        "test_an_episode_has_a_uuid_of_the_servers_and_the_instant_it_was_given": "M-06 M-09",
        "test_an_episode_without_an_instant_happened_now": "M-09",
        "test_an_episode_under_a_uuid_of_the_callers_is_new_then_known": "T25 M-06",
        "test_what_was_told_is_stored_and_found_when_the_call_returns": "C25",
        "test_links_that_are_left_to_a_job_are_told_and_their_end_can_be_seen": "C25",
    },
    "integration/test_rows_graph.py": {
        "test_a_page_of_facts_is_all_that_is_fetched_of_a_hub": "G-18 T15",
        "test_a_page_of_episodes_is_all_that_is_fetched_of_a_timeline": "T15",
        "test_vectors_are_stored_in_the_models_dimension_and_no_read_answers_one": "M-08",
        "test_hostile_names_are_stored_as_data": "T10",
        "test_a_type_that_is_no_plain_word_never_becomes_part_of_a_query": "T10",
        "test_hostile_words_in_every_argument_of_a_tool_harm_nothing": "T10",
        "test_what_a_failing_database_says_reaches_neither_answer_nor_log": "G-15 G-30",
    },
    "integration/test_rows_graphiti.py": {
        "test_what_graphiti_saves_again_keeps_all_that_is_ours": "T27",
        "test_facts_without_in_other_zones_and_with_equal_starts_have_one_stable_order": "T17",
        "test_episodes_of_other_zones_stand_where_they_happened": "T17",
    },
    "integration/test_rows_speed.py": {
        "test_the_benchmark_reports_how_long_traversals_of_f1_take": "G-41",
    },
    "integration/test_rows_walks.py": {
        "test_in_the_dense_graph_paths_are_minimal_and_a_subgraph_is_bounded": "G-79 G-80",
        "test_a_cleared_group_does_not_come_back_with_a_rebuild": "T33",
        "test_episodes_of_a_period_are_searched_and_listed_in_order": "M-101",
    },
    "integration/test_rows_workflow.py": {
        "test_searching_first_leaves_no_duplicates_where_telling_alone_does": "G-77",
        "test_what_is_known_of_a_thing_is_then_in_one_place_and_in_order": "G-77",
    },
    "integration/test_saved_graphs.py": {
        "test_only_a_saved_graph_outlives_the_server_and_only_open_graph_brings_it_back": "E-98 C14",
    },
    "integration/test_scratch_matching.py": {
        "test_the_document_s_texts_mean_what_it_says": "E-103 T57 E-85",
        "test_an_edge_between_what_is_nearly_called_so": "E-103 E-86",
        "test_one_service_is_never_taken_for_another": "E-102 C33 C35",
        "test_matching_asks_nothing_of_a_network": "E-33 E-26 T69",
    },
    "integration/test_scratch_tenants.py": {
        "test_edits_at_once_and_expiry_leave_everybody_their_own_graphs": "E-43 C41 T71",
    },
    "integration/test_scratch_worker.py": {
        "test_what_explodes_is_cut_at_a_count_or_at_the_time_limit_with_what_was_found": "T60",
    },
    "integration/test_store.py": {
        "test_hostile_names_are_stored_as_data_and_in_no_query": "T10",
        "test_facts_without_with_naive_and_with_equal_starts_have_one_stable_order": "T17",
        "test_episodes_of_other_zones_and_naive_ones_stand_where_they_happened": "T17",
    },
    "integration/test_store_vectors.py": {
        "test_another_dimension_gets_an_index_of_its_own": "C51 T42",
        "test_the_indexes_have_the_models_dimension_and_compare_by_cosine": "M-78",
    },
    "integration/test_takeover.py": {
        "test_what_a_killed_server_was_reading_another_reads_and_the_first_drops_when_it_is_back": "T24",
    },
    "protocol/test_answers.py": {
        "test_connections_hold_every_field_of_a_fact_in_structured_content": "G-08 G-09 G-10",
        "test_one_server_speaks_both_generations_of_the_protocol": "T36",
        "test_text_is_compact_json_without_nulls_whole_uuids_and_the_asked_entity": "C24 T04",
        "test_pages_followed_by_text_alone_give_every_fact_once": "G-06 G-20 G-38",
        "test_timeline_episodes_have_all_seven_keys": "G-26 G-27",
        "test_an_empty_answer_tells_what_the_group_holds": "G-01 G-37",
        "test_one_engine_stands_behind_the_three_searches": "C27",
    },
    "protocol/test_audit.py": {
        "test_a_write_is_told_with_who_tool_targets_time_outcome_and_duration": "K-09",
    },
    "protocol/test_call_log.py": {
        "test_a_call_is_logged_with_tool_duration_counts_and_groups": "G-78",
    },
    "protocol/test_compat.py": {
        "test_names_types_observations_and_relations_come_back_as_they_were_sent": "M-01 M-15 M-25",
        "test_a_known_entity_is_merged_and_answered_as_it_is_now": "M-60 C02",
        "test_similar_names_are_never_merged_and_no_model_is_asked": "T12 M-69",
        "test_a_call_leaves_one_episode_that_mentions_its_entities": "T13 C09",
        "test_a_relation_with_an_unknown_end_fails_alone": "M-61",
        "test_only_new_observations_are_added_and_unknown_names_are_told": "M-62",
        "test_an_observation_is_found_by_search_nodes_and_is_a_fact_of_its_entity": "T14 C08",
        "test_a_search_finds_words_of_names_types_and_observations": "B-07 T06 M-64",
        "test_the_best_come_first_in_an_order_that_stays": "B-12 B-16 B-04",
        "test_no_character_of_a_query_is_an_operator": "B-18",
        "test_a_blank_query_is_refused_and_one_without_a_match_is_empty": "B-17",
        "test_an_answer_has_the_fields_of_the_other_server": "B-13 B-14 B-19",
        "test_a_limit_beyond_the_schema_is_refused": "B-09 B-25",
        "test_the_limits_are_those_of_the_other_server": "B-24 B-26",
        "test_a_search_of_a_dense_graph_is_bounded": "B-08 B-15 B-49",
        "test_relations_are_only_those_among_the_named_entities": "B-29 B-30 B-31",
        "test_an_entity_fetched_alone_says_how_many_relations_it_has": "T09 B-28 C23",
        "test_names_beyond_the_limit_are_cut_in_the_order_asked": "B-32 B-35 T01",
        "test_unknown_names_are_told_and_equal_ones_count_once": "B-33 B-34",
        "test_a_name_is_matched_exactly_in_its_spelling": "B-27",
        "test_one_name_in_two_groups_are_two_entities": "B-36",
        "test_a_small_graph_comes_whole": "B-03",
        "test_relations_are_asked_for_exactly_the_returned_entities_and_ten_are_the_default": "B-02 B-10",
        "test_the_search_asks_a_full_text_index_and_is_cut_in_the_database": "B-11",
        "test_no_answer_of_a_dense_graph_fills_a_context": "B-05",
        "test_deleted_observations_take_their_sentences_and_leave_the_others_in_order": "M-67",
        "test_a_deleted_relation_is_exactly_the_one_named": "M-66",
        "test_a_deleted_entity_goes_with_its_facts_and_what_people_said_is_counted": "M-65",
        "test_the_tools_are_listed_only_where_the_toolset_is_on": "B-06 B-23 M-63",
        "test_there_is_no_read_graph_and_what_replaces_it_is_told": "B-20 B-21 C01",
        "test_the_description_says_when_to_use_which": "B-37",
        "test_the_description_of_create_entities_leads_to_add_memory_for_what_was_said": "M-105",
        "test_an_observation_moves_when_an_entity_was_last_mentioned_and_reading_does_not": "M-17",
    },
    "protocol/test_definitions.py": {
        "test_every_definition_equals_its_snapshot": "G-55 G-61",
        "test_the_two_traversal_tools_are_annotated_as_specified": "G-16 G-31 C22",
        "test_only_what_deletes_is_destructive": "G-67",
        "test_every_tool_that_answers_a_list_has_a_limit_with_default_and_maximum_and_a_cursor": "B-01 C19",
        "test_the_limits_of_traversal_are_the_specified_ones": "G-07 G-24",
        "test_traversal_needs_an_entity_and_no_query": "G-02",
        "test_every_description_says_what_then_when_and_what_instead": "G-72",
        "test_every_tool_named_in_a_definition_exists": "G-32 T21 G-69",
        "test_descriptions_name_what_their_specification_demands": "G-17 G-54",
        "test_a_client_of_the_upstream_server_finds_its_parameters": "G-63 G-64 G-65",
        "test_the_default_is_the_toolset_memory_with_at_most_eighteen_tools": "C28 G-66 G-68",
        "test_no_tool_reprocesses_episodes_or_adds_instructions_alone_and_communities_are_off_by_default": "G-83",
        "test_the_searches_stand_in_the_guide_and_name_what_to_use_instead": "C27",
    },
    "protocol/test_errors.py": {
        "test_a_missing_parameter_is_named": "G-05 G-22",
        "test_a_limit_out_of_range_is_refused_with_the_range": "T18",
        "test_bad_arguments_are_explained_without_repeating_them": "T35 C20",
        "test_a_database_that_is_down_gives_the_specified_prefix": "G-15 G-30",
        "test_a_malformed_uuid_is_an_error_that_says_where_uuids_come_from": "G-35 G-62",
        "test_a_failed_start_is_told_at_each_call_while_tools_are_still_listed": "G-14",
    },
    "protocol/test_examples.py": {
        "test_the_decision_example_sees_what_mysql_serves_before_it_writes": "T20 G-49",
        "test_the_project_example_gets_facts_and_episodes_of_a_database": "G-50",
        "test_the_coaching_example_sees_stress_grow_before_it_writes": "G-51",
    },
    "protocol/test_graph_tools.py": {
        "test_a_path_can_be_followed_by_its_text_alone": "G-79",
        "test_a_call_of_the_upstream_servers_add_triplet_works_unchanged": "G-68",
        "test_calls_of_the_upstream_servers_summaries_are_taken_and_say_that_there_is_no_model": "G-68",
        "test_a_group_is_cleared_only_with_the_token_of_its_preview": "T33",
    },
    "protocol/test_instructions.py": {
        "test_a_client_gets_the_built_text": "G-42",
        "test_the_kinds_of_data_and_the_rule_come_first": "G-43 G-44",
        "test_the_flows_name_their_tools_in_order": "G-45 G-46",
        "test_the_guide_has_a_line_for_each_of_the_five_tools": "G-47 G-48",
        "test_principles_and_notes_are_there": "G-52 G-53",
        "test_there_is_an_example_for_decisions_projects_and_coaching": "G-03 T22",
    },
    "protocol/test_metrics.py": {
        "test_no_person_group_uuid_or_text_is_in_the_figures": "G-78",
    },
    "protocol/test_projects.py": {
        "test_the_toolset_lists_its_tools_and_says_which_only_read": "M-34 M-42 M-50",
        "test_a_parameter_has_its_default_and_its_range": "M-45 M-46 M-56",
        "test_what_is_required": "M-35 M-51 M-55",
        "test_a_project_is_kept_apart_and_an_overview_is_one_call": "M-03 M-107 M-108",
        "test_what_happened_in_a_period_comes_in_order_and_an_entry_leads_to_its_entities_and_back": "M-04 M-26 M-31",
        "test_a_later_question_finds_entries_by_meaning_with_the_entities_that_matter": "M-110 M-49",
        "test_bad_input_is_an_error_that_says_what_fits_and_stores_nothing": "M-36 M-43",
        "test_what_add_memory_and_create_entry_store_is_found_alike": "C03",
    },
    "protocol/test_reasoning_edges.py": {
        "test_a_relation_is_one_call_in_natural_names": "E-04",
        "test_two_relations_between_the_same_nodes_are_two_edges": "E-61 T54 C38",
        "test_many_edges_are_added_at_once_and_what_failed_says_which_end": "E-63",
        "test_edges_are_found_by_any_of_their_parts": "E-64",
        "test_edges_are_removed_one_by_one_or_all_and_never_the_other_way_round": "E-65",
        "test_neighbours_come_with_relation_and_direction": "E-66",
        "test_a_part_of_a_graph_with_what_is_among_it": "E-74",
    },
    "protocol/test_reasoning_exchange.py": {
        "test_an_import_makes_a_graph_and_a_second_one_adds_nothing": "E-76",
        "test_the_label_of_an_edge_is_its_relation_or_related_to": "E-78",
        "test_a_broken_text_leaves_the_graph_as_it_was": "E-82 T68",
        "test_one_export_imported_into_another_graph_merges_the_two": "E-100",
        "test_pictures_for_people": "E-99",
    },
    "protocol/test_reasoning_graphs.py": {
        "test_the_first_write_makes_a_graph_and_without_a_name_the_default_one": "E-03 E-38 E-42",
        "test_reading_an_unknown_graph_makes_none_and_lists_those_there_are": "T58 E-40",
        "test_names_of_graphs_are_trimmed_texts_of_one_line": "E-39",
        "test_graphs_are_listed_last_used_first_with_their_times": "E-41 E-47 C40",
        "test_a_graph_goes_once_nobody_has_used_it_for_two_hours": "E-43",
        "test_deleting_tells_what_went_and_of_an_unknown_name_what_there_is": "E-48 T59",
        "test_a_graph_in_figures": "E-49 E-50 E-51",
        "test_an_edge_to_itself_is_kept_and_is_a_cycle": "E-62",
        "test_every_tool_but_the_list_takes_a_graph_that_may_be_left_out": "E-45 E-84",
        "test_graphs_are_found_after_a_reconnect_and_by_nobody_else": "E-06 C41 T72",
        "test_beyond_a_limit_nothing_is_added_and_the_limit_is_named": "E-07",
        "test_a_server_that_starts_again_has_no_graphs": "E-02 E-44",
    },
    "protocol/test_reasoning_matching.py": {
        "test_an_ambiguous_end_adds_nothing_and_asks_with_candidates": "E-17 E-18",
        "test_ends_are_found_by_what_they_are_called_and_answers_tell_what_was_found": "E-16 E-60 E-32",
        "test_case_spaces_hyphens_and_punctuation_are_ignored_only_where_one_label_is_left": "E-19 E-20 T55",
        "test_only_what_is_as_similar_as_the_threshold_is_found": "E-21 E-23",
        "test_the_best_one_is_taken_only_if_it_leads_by_more_than_the_margin": "E-22 E-24 C34",
        "test_finding_answers_the_node_the_candidates_or_nothing": "E-25 E-30 E-57",
        "test_adding_takes_only_the_same_label_for_the_same_node": "E-28 C35 T56",
        "test_what_removes_takes_no_label_for_another": "E-31 C37 E-58",
        "test_an_end_that_is_no_node_is_an_error_that_says_what_to_do": "E-29 C36 E-88",
        "test_labels_are_embedded_once_in_one_call_and_forgotten_with_their_node": "E-34 E-36 T70",
        "test_without_a_model_labels_still_match_and_typos_have_candidates": "E-35",
        "test_no_tool_of_scratch_graphs_asks_for_or_gives_an_id": "E-15",
    },
    "protocol/test_reasoning_nodes.py": {
        "test_a_node_is_added_once": "E-52 E-89",
        "test_a_second_call_merges_and_tells_what_it_did_not_take": "E-53",
        "test_what_cannot_be_a_node_is_refused": "E-54",
        "test_many_nodes_are_added_at_once_and_counted": "E-55 E-87",
        "test_wrong_items_of_a_batch_are_told_and_the_others_added": "E-56 T68",
        "test_nodes_are_listed_as_they_were_added_and_by_type": "E-59",
        "test_what_nothing_points_to_is_found": "E-13",
        "test_lists_of_a_large_graph_are_short_and_complete_in_pages": "E-75 T73",
    },
    "protocol/test_reasoning_queries.py": {
        "test_a_shortest_path_follows_edges_and_says_why_there_is_none": "E-67",
        "test_the_cheaper_route_wins_only_where_weight_is_named_and_a_negative_one_is_refused": "E-97",
        "test_labels_of_a_question_are_matched_like_those_of_an_edge": "E-32",
        "test_all_paths_are_bounded_however_many_there_are": "E-68 T60",
        "test_pagerank_ranks_the_documents_example": "E-69",
        "test_a_graph_without_nodes_has_an_answer_to_every_question": "T63 E-50",
        "test_components_are_weak_or_strong_the_largest_first": "E-70",
        "test_cycles_are_bounded_and_the_shortest_come_first": "E-71",
        "test_a_reduction_lists_what_would_go_and_takes_it_out_only_if_asked": "E-72 T62",
        "test_answers_hold_labels_and_never_a_number_of_a_node": "E-15",
    },
    "protocol/test_reasoning_sizes.py": {
        "test_default_answers_of_all_reading_tools_about_5000_nodes_are_small": "E-75 T73",
    },
    "protocol/test_reasoning_structure.py": {
        "test_an_impact_tells_what_a_removal_would_cut_off_and_removes_nothing": "E-11",
        "test_what_joins_two_clusters_has_the_highest_betweenness": "E-12",
        "test_degrees_are_raw_counts_by_total_then_label": "E-73",
        "test_the_hypothesis_with_the_most_support_is_found_by_relation": "E-14",
        "test_what_is_foundational_is_cited_by_many": "T65",
        "test_default_answers_about_5000_nodes_are_bounded": "E-75 T73",
    },
    "protocol/test_stdio.py": {
        "test_each_request_is_answered_although_one_holds_half_a_surrogate_pair": "T37",
    },
    "unit/capabilities/curation/test_merging.py": {
        "test_facts_mentions_and_names_move_and_undoing_gives_all_of_it_back": "C46 K-91 T89",
        "test_a_fact_that_both_have_is_joined_and_those_of_the_pair_go": "K-91 T89",
        "test_of_two_agents_with_a_preview_the_second_gets_a_conflict": "K-96",
        "test_the_similarity_has_to_be_above_the_bar_and_one_of_both_flagged": "K-36",
    },
    "storm/test_killed_staging.py": {
        "test_a_workflow_killed_at_ten_random_points_ends_by_second_runs": "K-87",
    },
    "unit/capabilities/curation/test_checks.py": {
        "test_a_dry_run_says_the_same_and_changes_nothing": "K-46",
        "test_what_is_new_and_linked_only_to_what_is_distant_is_flagged_and_a_normal_newcomer_is_not": "K-47",
        "test_one_link_one_near_link_nothing_near_or_a_person_is_no_finding": "T85",
        "test_in_clean_staging_all_are_approved_and_a_later_flag_takes_that_back": "K-78",
    },
    "integration/test_curation.py": {
        "test_a_real_model_finds_the_comics_in_medicine_and_no_normal_newcomer": "K-47 T85",
        "test_two_near_duplicates_and_an_orphan_of_staging_are_found_and_a_rebuild_keeps_what_was_said": "K-46 K-78",
        "test_two_that_little_is_known_of_are_found_and_merged_as_the_refusal_says": "K-36",
    },
    "integration/test_explaining.py": {
        "test_a_model_adds_a_text_to_each_pair_and_changes_nothing": "K-98",
    },
    "integration/test_what_is_stored.py": {
        "test_the_embedded_file_has_the_tables_and_columns_that_the_page_lists": "K-43",
        "test_neo4j_has_the_labels_and_properties_that_the_page_lists": "K-43",
        "test_neither_store_has_a_place_for_rights_rules_tools_or_what_a_page_shows": "K-44",
    },
    "unit/capabilities/curation/test_reviews.py": {
        "test_a_search_shows_librarians_why_an_entity_is_flagged_and_others_nothing": "K-23",
    },
    "storm/test_fitness_storm.py": {
        "test_of_ten_thousand_searches_by_twenty_readers_each_is_counted_and_only_what_fits_rises": "K-32",
    },
    "unit/capabilities/curation/test_similar.py": {
        "test_a_pair_above_the_threshold_is_flagged_once_with_its_similarity": "K-90",
        "test_names_alone_do_not_make_a_pair_nor_do_entities_of_other_types": "T90",
    },
    "unit/capabilities/sources/test_layout.py": {
        "test_a_paragraph_is_a_block_and_is_numbered_from_1_without_the_front_matter": "K-52 K-67",
        "test_offsets_hold_for_any_text": "T97",
    },
    "unit/capabilities/sources/test_files.py": {
        "test_a_path_out_of_the_root_is_refused_and_not_opened": "T100",
    },
    "unit/capabilities/sources/test_ingesting.py": {
        "test_a_document_is_one_write_with_an_episode_for_each_section": "K-17",
        "test_an_edited_file_is_a_version_that_shares_the_sections_that_did_not_change": "T98",
    },
    "unit/capabilities/sources/test_converting.py": {
        "test_a_page_becomes_the_markdown_of_what_is_seen": "K-66",
        "test_what_reads_a_format_is_named_if_it_is_not_installed": "K-66",
    },
    "unit/capabilities/sources/test_reading.py": {
        "test_the_id_of_a_quote_leads_to_its_paragraph_and_no_two_paragraphs_have_one": "K-53",
        "test_paragraphs_are_read_from_one_to_another_both_included_and_in_order": "K-70",
        "test_a_whole_document_comes_in_pages_of_max_chars": "K-71",
    },
    "unit/capabilities/sources/test_evidence.py": {
        "test_a_quote_is_kept_as_it_stands_with_its_place_in_the_document": "K-54 K-61",
        "test_sentences_count_from_0_and_marks_of_a_quotation_are_no_words": "K-62",
        "test_a_quote_that_is_not_there_word_for_word_is_refused": "K-60 T99 K-93",
        "test_the_same_quote_again_is_the_same_evidence": "K-59",
        "test_a_mode_shows_nothing_the_paragraph_or_the_section_around": "K-68 K-69 K-72",
        "test_pages_go_on_where_the_last_ended_and_leave_out_what_came_meanwhile": "K-64",
    },
    "contracts/test_graph_documents.py": {
        "test_quotes_come_in_pages_by_document_and_place_with_the_passages_they_stand_in": "K-63 K-57",
    },
    "acceptance/test_documents.py": {
        "test_statements_of_decisions_are_shown_where_they_stand_in_the_old_file_and_in_the_edited_one": "K-55 K-56",
    },
    "unit/capabilities/curation/test_origins.py": {
        "test_a_later_mention_by_another_leaves_who_made_it": "K-15",
        "test_an_entity_has_uuid_name_and_when_it_was_made_with_an_offset": "K-12 K-13 K-16",
        "test_what_a_model_finds_is_an_inference_from_what_was_told": "K-17",
        "test_there_are_three_kinds_of_sources": "K-17",
        "test_what_a_caller_says_is_its_own_in_every_record": "T86",
    },
    "unit/core/model/test_fitness.py": {
        "test_fitness_is_the_mean_match_and_zero_before_the_first": "K-20 T74",
        "test_the_final_score_adds_the_bias": "K-22",
        "test_a_boost_multiplies_the_score_and_never_turns_the_order_round": "K-29 T75",
        "test_the_fitness_of_a_fact_is_the_share_of_its_returns_that_helped": "K-95",
    },
    "unit/storage/test_usage.py": {
        "test_ninety_nine_searches_wait_and_the_hundredth_is_written_with_them_at_once": "K-25",
        "test_fifty_entities_are_one_statement_and_several_hits_of_one_are_one_row": "K-26 K-27",
        "test_a_fault_keeps_what_waits_and_the_next_time_writes_it_once": "K-28 T80",
    },
    "contracts/test_graph_values.py": {
        "test_no_answer_holds_an_embedding": "K-14",
    },
    "contracts/test_usage.py": {
        "test_searches_add_up_to_a_count_and_a_sum_of_raw_cosines_once_they_are_written": "K-19 T76",
        "test_two_processes_and_two_hosts_add_and_neither_overwrites": "T28",
        "test_formula_and_order_are_those_of_the_documents_cypher_over_the_same_hits": "K-26 K-29",
    },
    "unit/capabilities/search/test_boosting.py": {
        "test_three_searches_that_return_an_entity_count_three_and_what_the_limit_cuts_counts_nothing": "K-18",
        "test_what_ranks_fifteenth_can_rise_into_the_first_ten": "K-30 T78",
        "test_a_call_may_do_without_the_boost": "K-30",
        "test_where_all_are_pushed_down_the_order_is_that_of_the_plain_scores": "T79",
        "test_the_counted_match_is_never_the_boosted_one": "T77",
    },
    "unit/capabilities/curation/test_fitness.py": {
        "test_a_bias_is_set_and_not_added_and_the_answer_has_the_old_one_and_what_it_makes": "K-31 K-92",
        "test_a_bias_outside_of_its_range_is_refused": "K-21",
    },
    "integration/test_fitness.py": {
        "test_what_fits_rises_above_what_is_only_returned_often_and_a_new_thing_is_found": "K-32 C47",
        "test_the_connections_that_read_cannot_write": "T81",
    },
    "protocol/test_curation.py": {
        "test_a_librarian_flags_lists_and_clears_and_a_contributor_may_not": "K-48 K-89",
        "test_what_cannot_be_is_refused_and_named": "K-24",
        "test_a_librarian_merges_and_undoes_it": "K-05",
        "test_a_curator_lifts_what_a_librarian_may_not_and_a_contributor_says_what_helped": "K-06",
    },
    "protocol/test_tiers.py": {
        "test_a_tier_is_shown_and_may_call_its_tools_and_no_others": "K-01",
        "test_a_reader_reads_and_nothing_is_written": "K-02",
        "test_a_contributor_adds_and_deletes_nothing": "K-03 K-04 C45",
        "test_a_curator_deletes_what_a_librarian_may_only_tidy": "K-07",
        "test_a_refusal_is_no_other_error_and_is_audited": "C44",
        "test_the_setting_is_the_tier_of_the_local_user_without_a_token": "K-01",
    },
    "protocol/test_shared_memories.py": {
        "test_a_member_may_what_its_tier_there_may_with_every_tool": "K-01 K-08",
        "test_who_told_what_is_the_member_and_never_an_argument": "T86",
    },
    "protocol/test_tokens.py": {
        "test_users_of_one_service_are_told_apart_on_every_request_of_one_session": "C41",
        "test_a_reader_changes_nothing_whatever_it_says_it_is": "K-08",
        "test_writes_and_refusals_are_audited_without_content": "K-09",
        "test_beyond_loopback_any_host_name_is_taken_with_a_token_and_a_foreign_origin_is_not": "C55",
    },
    "protocol/test_transports.py": {
        "test_http_answers_with_and_without_trailing_slash": "M-97",
    },
    "unit/capabilities/explore/test_exploring.py": {
        "test_all_facts_of_the_entitys_own_group_come_in_both_directions": "G-04 C21",
        "test_group_ids_narrow_connections_to_these_groups": "G-06",
        "test_the_pages_of_a_hub_bring_each_fact_once_and_say_how_many_there_are": "G-20 C17 G-12",
        "test_current_facts_come_first_then_the_newest": "G-19",
        "test_ended_facts_are_included_unless_only_what_holds_now_is_wanted": "G-11",
        "test_each_fact_names_both_ends_and_its_direction": "G-10 T19",
        "test_facts_have_upstreams_fields_and_never_an_embedding": "G-09",
        "test_as_of_shows_what_held_then_and_tells_what_is_only_possible": "G-81",
        "test_an_unknown_entity_is_told_from_one_without_connections": "G-13 G-36",
        "test_a_group_without_data_gives_an_empty_answer_that_says_what_the_groups_hold": "G-37",
        "test_answers_at_default_and_maximal_limits_stay_bounded_with_the_longest_facts": "G-39 T04",
        "test_ordinary_facts_fill_the_default_page": "G-39",
        "test_few_episodes_come_oldest_first": "G-25 C18 G-28",
        "test_the_newest_window_is_printed_oldest_first_and_its_cursor_leads_to_older_ones": "G-34 T16 G-21",
        "test_group_ids_narrow_the_timeline": "G-23 G-38",
        "test_dates_filter_the_timeline_half_open": "G-81",
        "test_an_entity_that_no_episode_mentions_is_told_from_an_unknown_one": "G-29",
        "test_long_contents_are_cut_and_can_be_read_on_to_the_end": "G-27 T04",
        "test_the_newest_episodes_by_valid_at_come_first": "G-66 T31",
        "test_entities_of_episodes_come_by_name_in_pages": "G-68",
        "test_one_fact_is_read_by_its_uuid_or_is_not_found": "G-67",
        "test_entities_of_any_type_are_traversed": "G-40",
        "test_nothing_of_another_person_is_reached_by_uuid": "G-38",
        "test_traversal_asks_no_model_and_a_dead_database_is_said": "G-02",
    },
    "unit/capabilities/extraction/test_receipts.py": {
        "test_whoever_wants_communities_updated_is_told_what_does_it": "G-65",
    },
    "unit/capabilities/extraction/test_takeover.py": {
        "test_a_job_of_a_server_that_is_gone_is_read_by_another_once": "T24",
    },
    "unit/capabilities/forget/test_clearing.py": {
        "test_the_first_call_shows_what_would_go_and_the_second_clears_it": "T33 G-67",
    },
    "unit/capabilities/forget/test_deleting.py": {
        "test_an_episode_takes_only_what_nothing_else_supports": "T30",
        "test_an_unknown_or_malformed_episode_is_an_error_and_a_second_delete_says_it_is_gone": "G-67",
    },
    "unit/capabilities/projects/test_entries.py": {
        "test_an_entry_is_one_write_of_an_episode_with_its_record": "M-12 M-11 M-41",
        "test_project_by_name_and_by_uuid_is_the_same_and_an_entry_needs_none": "M-37",
        "test_an_unknown_project_stores_nothing_and_names_near_ones": "M-37",
        "test_each_type_is_kept_and_meeting_notes_is_meeting": "M-10 C26",
        "test_the_worked_example_of_the_authentication_module": "M-109 M-32 M-104",
        "test_known_names_are_linked_unless_no_entities_are_to_be_extracted": "M-38",
        "test_with_a_model_an_entry_is_queued_for_it_unless_none_is_to_read_it": "M-38 M-41",
        "test_the_context_is_the_newest_page_in_order_of_time_and_pages_on_to_older_ones": "M-52 M-27",
        "test_a_late_entry_with_an_older_date_comes_in_its_place": "M-30 T49 C05",
        "test_an_unknown_name_gives_near_ones_and_a_uuid_and_me_are_known": "M-51 T50",
    },
    "unit/capabilities/projects/test_entry_search.py": {
        "test_only_what_reaches_the_threshold_is_returned_and_the_nearest_below_are_told": "M-46 M-47 T41",
        "test_of_equal_similarity_the_newest_comes_first": "M-47",
        "test_a_project_gives_as_many_as_asked_for_whatever_is_nearer_in_others": "M-44 M-45",
        "test_without_a_model_words_are_searched_without_a_similarity_and_a_threshold": "M-48",
    },
    "unit/capabilities/projects/test_memories.py": {
        "test_the_weights_of_the_terms": "M-74",
        "test_each_term_is_from_zero_to_one": "M-75 T47",
        "test_what_the_project_says_itself_is_primary_and_the_rest_secondary_above_the_threshold": "M-54 M-57 M-58",
        "test_without_cross_project_secondary_is_empty": "M-56 T48",
        "test_scores_fade_with_time_and_a_pin_lifts_them": "M-18 M-29 M-100",
        "test_one_entity_matters_to_two_projects_of_a_group_and_no_score_is_stored": "C06 C07",
    },
    "unit/capabilities/projects/test_projects.py": {
        "test_a_project_is_one_write_an_entity_and_a_fact_of_its_status": "M-19 M-20 M-21",
        "test_a_second_call_with_the_name_returns_the_project_as_it_is": "M-53 T46",
        "test_metadata_may_come_as_a_text_and_is_empty_if_left_out": "M-24 M-39",
        "test_a_new_status_ends_the_former_one_which_stays_known": "M-23",
        "test_a_project_is_found_by_name_whole_uuid_and_its_first_characters": "T45",
        "test_projects_are_listed_newest_first_in_pages_with_their_entries": "M-59 M-22",
    },
    "unit/capabilities/sagas/test_summaries.py": {
        "test_a_saga_is_summarised_by_one_write_and_again_only_with_what_is_new": "G-68",
        "test_communities_are_replaced_as_a_whole_by_one_write": "G-68",
        "test_without_a_model_both_say_what_to_do": "G-65 G-68",
    },
    "unit/capabilities/scratch/algorithms/test_paths_like_networkx.py": {
        "test_the_cheaper_of_two_routes_is_the_longer_one_and_negative_weights_are_refused": "E-97",
        "test_simple_paths_are_networkxs_each_once_and_the_shortest_first": "T61",
    },
    "unit/capabilities/scratch/algorithms/test_ranking_like_networkx.py": {
        "test_pagerank_of_the_documents_example_is_what_networkx_says_not_the_document": "T64",
    },
    "unit/capabilities/scratch/algorithms/test_structure_like_networkx.py": {
        "test_the_edges_to_drop_are_those_that_networkxs_transitive_reduction_lacks": "T62",
        "test_graphs_without_nodes_or_edges_have_an_answer": "T63",
    },
    "unit/capabilities/scratch/formats/test_dot.py": {
        "test_nodes_in_subgraphs_stay_quotes_go_and_ports_make_no_nodes": "T66",
        "test_an_edge_without_direction_is_stored_once_with_a_warning": "E-96 C39",
    },
    "unit/capabilities/scratch/formats/test_fuzzing.py": {
        "test_almost_right_texts": "E-82",
    },
    "unit/capabilities/scratch/formats/test_graphml.py": {
        "test_nothing_is_declared_resolved_or_fetched_and_nested_properties_are_written": "T67",
        "test_networkx_reads_ours_and_we_read_networkx": "E-81",
    },
    "unit/capabilities/scratch/formats/test_json_text.py": {
        "test_the_shape_of_the_document": "E-80",
    },
    "unit/capabilities/scratch/formats/test_round_trips.py": {
        "test_a_round_trip": "E-77",
        "test_graphviz_accepts_what_is_written_as_dot": "E-83",
    },
    "unit/capabilities/scratch/formats/test_spreadsheets.py": {
        "test_what_spreadsheets_add": "E-79",
    },
    "unit/capabilities/scratch/formats/test_tables.py": {
        "test_a_list_of_edges_however_it_is_written": "E-79",
    },
    "unit/capabilities/scratch/graphs/test_graph.py": {
        "test_two_relations_between_the_same_nodes_are_two_edges": "E-61 T54",
        "test_beyond_a_limit_nothing_is_added_and_the_limit_is_named": "E-07 T68",
    },
    "unit/capabilities/scratch/matching/test_label_forms.py": {
        "test_what_punctuation_tells_apart_stays_apart": "T55",
        "test_punctuation_is_left_out_to_find_and_nothing_is_found_by_nothing": "T55",
        "test_a_name_is_embedded_as_words": "T57",
        "test_what_was_meant_is_likest_and_likely": "T57",
    },
    "unit/capabilities/scratch/matching/test_label_vectors.py": {
        "test_the_nearest_are_those_of_a_plain_walk_through_what_is_left": "T70",
        "test_what_is_dropped_is_neither_found_nor_waited_for": "T70",
    },
    "unit/capabilities/scratch/test_scratch_graphs.py": {
        "test_a_graph_in_use_stays_and_its_use_counts_to_the_end": "T71 E-43",
        "test_a_tenant_is_what_a_caller_may_see_whatever_token_or_tier_it_comes_with": "C41 T72",
        "test_while_labels_are_embedded_the_same_graph_answers": "E-36",
    },
    "unit/capabilities/search/test_episode_search.py": {
        "test_a_hit_says_where_its_best_sentence_stands": "G-69",
    },
    "unit/capabilities/search/test_fact_search.py": {
        "test_known_at_shows_the_record_as_it_was_and_as_of_the_world_by_it": "G-11 G-64 G-81",
    },
    "unit/capabilities/search/test_searching.py": {
        "test_staging_and_production_are_searched_together_where_both_are_named": "K-97",
        "test_thirty_asked_for_are_thirty": "G-63 T32",
        "test_a_name_in_another_group_is_another_entity": "T02 G-38",
        "test_searches_read_the_default_group_unless_told_otherwise": "C21",
        "test_query_syntax_stop_words_and_any_script_are_ordinary_queries": "T05",
        "test_dates_and_relations_filter_facts_before_they_are_ranked": "G-64 T07",
        "test_limits_are_checked": "G-64",
        "test_scores_are_shown_between_nothing_and_one": "T08",
        "test_episodes_show_their_best_sentence_and_the_text_around_it": "G-69",
    },
    "unit/capabilities/staging/test_attachments.py": {
        "test_a_document_comes_whole_with_its_quotes_once": "K-79",
        "test_a_disk_that_is_full_at_any_write_loses_no_saga_and_no_document": "K-83",
    },
    "unit/capabilities/staging/test_migrating.py": {
        "test_everything_comes_over_once_and_joins_what_is_there": "K-80 K-84",
        "test_a_second_run_finds_nothing_to_do": "K-80",
        "test_copies_have_uuids_of_their_own_and_the_write_keeps_where_they_came_from": "T92",
        "test_facts_to_what_does_not_come_are_reported_and_dangle_nowhere": "K-79",
        "test_an_unknown_concept_stops_all_of_it": "K-79",
        "test_a_move_empties_the_source_of_what_came_over": "K-83",
        "test_what_waits_for_a_look_is_listed_by_kind_and_flagged_and_the_rest_is_approved": "K-78",
        "test_the_tool_takes_over_what_the_command_does_and_only_if_it_is_no_dry_run": "K-94",
        "test_without_the_flags_the_tool_takes_the_entities_alone": "K-94",
        "test_the_tool_refuses_what_the_command_refuses": "K-94",
        "test_a_cluster_is_copied_as_far_as_asked_and_the_source_stays": "K-82",
        "test_the_source_keeps_all_of_it_if_the_target_lacks_something": "T93",
        "test_a_copy_is_undone_by_a_rollback_and_comes_again": "T95",
    },
    "unit/capabilities/staging/test_rollback.py": {
        "test_what_came_since_goes_and_what_it_ended_holds_again": "K-86 C48",
        "test_a_dry_run_lists_what_would_go_and_changes_nothing": "K-86",
        "test_what_was_forgotten_since_stays_forgotten_and_is_said": "C48",
    },
    "unit/capabilities/staging/test_snapshots.py": {
        "test_a_restored_group_is_what_it_was_in_every_record_with_uuids_times_history_and_vectors": "K-85",
        "test_what_a_group_held_before_a_restore_is_a_snapshot_itself": "T94",
        "test_without_confirm_nothing_is_changed_and_nothing_written": "K-85",
        "test_a_tag_is_taken_once_and_is_a_plain_word": "K-81",
    },
    "unit/cli/test_main.py": {
        "test_a_target_that_is_none_is_refused_with_the_list": "K-74",
        "test_commands_about_groups_print_json_and_refuse_a_flag_that_they_do_not_know": "K-88",
        "test_every_setting_is_a_flag_of_serve_under_each_of_its_names_and_tells_its_variables": "M-95",
        "test_a_flag_under_any_of_its_names_wins_over_every_variable": "M-80 M-88 M-90",
        "test_two_flags_of_one_setting_that_differ_are_an_error_and_the_last_of_one_name_counts": "C54 M-95",
        "test_a_password_on_the_command_line_counts_with_a_warning_and_is_not_told": "M-86 T53",
        "test_momento_is_the_same_command_and_serves_if_none_is_named": "M-96",
    },
    "unit/cli/test_start_line.py": {
        "test_it_tells_each_value_with_its_origin_and_the_env_file_in_one_line_without_a_secret": "C53 T52 T53",
    },
    "unit/cli/test_tiers.py": {
        "test_a_command_needs_its_tier_and_is_refused_in_one_form": "K-01",
    },
    "unit/cli/test_tokens.py": {
        "test_a_token_is_shown_once_and_kept_as_a_hash": "T53",
    },
    "unit/core/facts/test_sagas.py": {
        "test_episodes_of_a_saga_form_a_chain": "G-65",
    },
    "unit/core/identity/test_groups.py": {
        "test_a_single_name_is_a_list_of_one_and_an_empty_list_counts_as_omitted": "G-06",
        "test_a_target_is_a_group_beside_the_one_it_belongs_to": "K-73",
        "test_staging_and_archives_are_seen_but_never_read_unasked": "T96",
    },
    "unit/core/identity/test_uuids.py": {
        "test_what_is_no_uuid_is_an_error_that_names_the_tool_to_ask": "G-35",
        "test_a_whole_uuid_that_nothing_has_is_returned_as_it_is": "C20",
    },
    "unit/core/model/test_access.py": {
        "test_principal_groups_and_tier_are_those_of_the_token": "K-08",
    },
    "unit/core/model/test_redaction_of_vectors.py": {
        "test_a_deleted_episode_takes_the_vectors_of_its_passages_facts_and_entities": "C51",
    },
    "unit/core/reading/test_paging.py": {
        "test_limits_outside_their_range_are_refused_by_name": "G-07 T18",
        "test_stated_defaults_and_maxima": "C19 G-24",
    },
    "unit/docs/test_compat_docs.py": {
        "test_the_readme_has_each_query_with_its_limits_and_what_it_returns": "B-41",
        "test_the_readme_names_read_graph_only_to_say_what_replaces_it": "B-38",
        "test_the_readme_says_when_to_use_which_query_and_that_both_are_bounded": "B-39",
        "test_the_readme_says_what_the_bounds_are_for": "B-40",
        "test_the_changelog_has_the_removal_its_reason_and_the_way_to_migrate": "B-42 B-43",
        "test_the_page_has_the_limits_and_the_steps_of_the_inspector": "B-48",
    },
    "unit/docs/test_docker.py": {
        "test_the_example_of_env_help_and_documentation_name_every_setting_and_no_other": "M-82",
        "test_files_with_secrets_are_ignored_by_git": "M-83",
        "test_the_image_is_tagged_with_this_version": "B-44",
    },
    "unit/docs/test_docs.py": {
        "test_the_readme_names_every_setting_and_no_other": "M-82",
        "test_the_readme_shows_tools_workflow_and_how_to_connect": "G-75",
        "test_the_changelog_starts_with_this_version_and_names_what_is_not_offered": "C31",
        "test_the_decisions_about_scratch_graphs_are_recorded_and_linked": "E-95",
    },
    "unit/docs/test_requirements.py": {
        "test_each_point_of_the_acceptance_list_of_bounded_queries_has_a_test": "B-50",
        "test_each_part_that_was_stated_as_done_has_a_test": "M-98",
    },
    "unit/embedding/test_missing_vectors.py": {
        "test_with_the_service_away_all_is_stored_and_what_follows_is_said": "M-40",
        "test_the_vectors_follow_once_it_answers_again_and_a_long_absence_costs_no_attempt": "M-40 C51",
        "test_vectors_of_a_model_that_is_no_longer_the_memorys_are_not_stored": "C51 T42",
        "test_a_server_of_another_model_searches_by_words_and_says_why": "C51 T43",
    },
    "unit/embedding/test_reembedding.py": {
        "test_the_first_model_is_recorded_in_journal_and_graph_and_agrees_with_itself": "C51",
        "test_another_model_or_dimension_does_not_start_and_is_told_the_command": "C51 T42",
        "test_all_vectors_are_made_anew_in_graph_and_journal_and_back_again": "C51 T42",
        "test_a_server_of_the_old_model_writes_by_words_and_its_texts_are_embedded_by_the_new_one": "C51",
    },
    "unit/docs/test_hint_docs.py": {
        "test_the_names_of_the_specification_lead_to_tools_and_are_none_themselves": "C29",
    },
    "protocol/test_hints.py": {
        "test_created_without_a_search_then_searched_then_created_again": "K-40 K-35",
        "test_a_search_counts_for_whoever_may_see_the_same_and_for_nobody_else": "K-38 T82",
        "test_a_hint_does_not_repeat_what_needs_attention_says": "K-42",
        "test_a_call_without_its_prerequisite_waits_for_its_own_confirmation": "K-37 C30",
        "test_every_tool_permits_and_refuses_a_tier_the_same_in_every_mode": "K-41 K-39",
        "test_no_other_failure_is_reported_as_a_lack_of_permission": "T84 K-39",
    },
    "unit/server/test_hint_records.py": {
        "test_every_tool_has_a_record_whose_names_are_tools": "K-33",
        "test_every_reason_is_known_and_what_is_missing_has_its_own": "T83",
        "test_what_creates_wants_a_search_first_and_leads_to_relations_and_evidence": "K-34",
        "test_a_search_leads_to_what_creates_and_to_details": "K-35",
        "test_a_merge_is_for_librarians_after_a_comparison_and_audited": "K-36",
    },
    "unit/server/test_recent_calls.py": {
        "test_a_call_counts_for_an_hour_and_for_what_the_caller_may_see": "K-38 T82",
    },
    "unit/server/test_logs.py": {
        "test_every_line_is_an_object_with_time_level_logger_and_message": "G-78",
    },
    "unit/settings/test_config.py": {
        "test_a_value_that_does_not_fit_names_setting_origin_and_what_fits": "M-93",
        "test_the_nearest_dotenv_upwards_is_used_and_named": "M-81 T52",
        "test_a_named_env_file_is_used_instead_and_must_exist": "M-81 T52",
    },
    "unit/settings/test_config_database.py": {
        "test_a_server_without_an_address_is_the_usual_one_on_this_machine": "M-84",
        "test_a_password_that_cuts_an_address_short_is_refused_and_not_repeated": "M-86 T53",
        "test_user_and_password_in_an_address_are_taken_out_of_it": "M-86 T53",
        "test_no_password_is_built_in": "M-86",
        "test_a_password_among_the_options_of_an_address_is_not_shown": "M-86 T53",
    },
    "unit/settings/test_config_embedding.py": {
        "test_local_is_the_default_and_keeps_no_key_of_openais": "M-72 M-90",
        "test_hybrid_is_refused_with_the_reason_and_what_to_use": "C52 M-72",
        "test_without_a_key_openai_is_refused_naming_the_variables": "M-71 M-89",
        "test_openais_key_goes_to_openai_only": "M-89",
        "test_the_dimension_is_known_or_given_and_sent_where_the_model_takes_it": "M-71 M-88 T42",
    },
    "unit/settings/test_config_foreign.py": {
        "test_its_files_start_on_the_database_that_they_name": "M-84 M-85 M-87",
        "test_its_environment_alone_names_database_and_model": "C54 M-85",
    },
    "unit/settings/test_config_names.py": {
        "test_another_name_stands_for_the_setting_and_is_told_as_its_origin": "M-84 M-87 M-91",
        "test_the_level_decides_whatever_the_name": "M-80 M-84 M-93",
        "test_two_names_that_differ_are_an_error_that_names_both_and_tells_neither_value": "C54 M-85",
        "test_the_same_value_twice_and_two_levels_that_differ_are_fine": "C54",
        "test_openais_key_is_a_fallback_and_no_second_name_of_the_embeddings_key": "M-89 C54",
    },
    "unit/settings/test_config_reasoning.py": {
        "test_the_thresholds_of_matching_are_settings": "E-27 E-23 E-24",
        "test_a_value_outside_its_range_is_refused_by_name": "E-27",
    },
    "unit/settings/test_config_secrets.py": {
        "test_whatever_is_called_a_key_is_a_secret_and_its_flag_says_who_sees_it": "T53",
        "test_a_key_is_in_no_output_of_doctor_in_no_start_line_and_in_no_repr": "T53",
    },
    "unit/storage/graph/test_neo4j_version.py": {
        "test_an_older_one_is_refused_with_what_is_needed_and_what_to_do": "M-73 C56",
    },
    "unit/toolkit/test_rendering.py": {
        "test_content_is_shown_as_it_is": "M-07",
    },
    "unit/storage/graph/test_what_is_stored.py": {
        "test_a_mention_is_stored_once_and_neither_a_chain_of_entries_nor_a_score": "C04 C05",
        "test_server_models_and_embedding_have_modules_of_their_own_and_no_cypher": "M-33",
    },
}
"""File and test, and the rows it shows."""
