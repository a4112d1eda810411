-- Creates items, each with an ID that no other run uses. If PATH contains LIST, each request goes to the next of 64
-- lists.
-- Arguments: PATH RUN
local path, run, count = "", 0, 0
local template = '{"ID":"%08x-%04x-4000-8000-%012x","Name":"Buy %07d bottles","Notes":"and bring the empty ones back, twelve","Done":false}'

function init(args)
  path, run = args[1], tonumber(args[2])
end

function request()
  count = count + 1
  local body = template:format(run, count % 65536, count, count % 10000000)
  return wrk.format("POST", (path:gsub("LIST", "list-" .. count % 64)), { ["Content-Type"] = "application/json" }, body)
end
