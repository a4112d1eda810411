-- Deletes each item of a file of IDs once, after skipping as many items as FIRST says.
-- Arguments: ITEM-PATH FILE-OF-IDS FIRST
local path, ids, count = "", {}, 0

function init(args)
  path = args[1]
  local first = tonumber(args[3])
  local line = 0
  for id in io.lines(args[2]) do
    line = line + 1
    if line > first then ids[#ids + 1] = id end
  end
end

function request()
  count = count + 1
  return wrk.format("DELETE", path .. ids[math.min(count, #ids)])
end
