-- Signed addresses are one thing to ask for, over HTTP or as a tool: named requests for them are kept under one name. Those of the tool that
-- were kept under its own move there for the rest of their day, unless the same key was used over HTTP as well.
update idempotency_keys set endpoint = 'POST /api/v1/image-urls'
where endpoint = 'create_car_image_urls'
    and not exists (
        select 1 from idempotency_keys other
        where other.account_id = idempotency_keys.account_id and other.endpoint = 'POST /api/v1/image-urls'
            and other.idempotency_key = idempotency_keys.idempotency_key
    );
