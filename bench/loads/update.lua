-- Updates items at random, and requests the list in between.
-- Arguments: LIST-PATH ITEM-PATH FILE-OF-IDS PERCENT-OF-UPDATES
local list, item, percent, ids, count = "", "", 100, {}, 0
local template = '{"ID":"%s","Name":"Buy %07d bottles","Notes":"and bring the empty ones back, twelve","Done":true}'

function init(args)
  list, item, percent = args[1], args[2], tonumber(args[4])
  for id in io.lines(args[3]) do ids[#ids + 1] = id end
  math.randomseed(os.time())
end

function request()
  count = count + 1
  if math.random(100) > percent then return wrk.format("GET", list) end
  local id = ids[math.random(#ids)]
  local body = template:format(id, count % 10000000)
  return wrk.format("PUT", item .. id, { ["Content-Type"] = "application/json" }, body)
end
