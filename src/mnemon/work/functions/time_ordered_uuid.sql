-- A new job's id. Version 7, as the enqueuing program makes them: the order of the keys is the order of the list.
CREATE OR REPLACE FUNCTION mnemon.time_ordered_uuid() RETURNS uuid
    LANGUAGE sql VOLATILE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(
        int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
        'hex')::uuid;
