// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A little shop for the demo: orders are parsed, priced and sorted, over and over. Argument: seconds. */
public class Demo {
    static final Pattern ORDER = Pattern.compile("(\\w+):(\\d+)@(\\d+\\.\\d+)");
    static volatile double sink;

    static final class Order {
        final String item;
        final int count;
        final double price;

        Order(String item, int count, double price) {
            this.item = item;
            this.count = count;
            this.price = price;
        }

        double total() {
            return count * price;
        }
    }

    static List<String> receive(Random random, int count) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lines.add("item" + random.nextInt(100) + ":" + random.nextInt(9) + "@" + random.nextInt(50) + ".99");
        }
        return lines;
    }

    static List<Order> parse(List<String> lines) {
        List<Order> orders = new ArrayList<>();
        for (String line : lines) {
            Matcher matcher = ORDER.matcher(line);
            if (matcher.matches()) {
                orders.add(new Order(matcher.group(1), Integer.parseInt(matcher.group(2)),
                        Double.parseDouble(matcher.group(3))));
            }
        }
        return orders;
    }

    static Map<String, Double> price(List<Order> orders) {
        Map<String, Double> totals = new HashMap<>();
        for (Order order : orders) {
            totals.merge(order.item, order.total(), Double::sum);
        }
        return totals;
    }

    static List<String> best(Map<String, Double> totals) {
        return totals.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(10)
                .map(Map.Entry::getKey)
                .collect(Collectors.toList());
    }

    static void serve(long end, int seed) {
        Random random = new Random(seed);
        while (System.nanoTime() < end) {
            sink += best(price(parse(receive(random, 2000)))).size();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        Thread second = new Thread(() -> serve(end, 2), "shop-2");
        second.start();
        serve(end, 1);
        second.join();
    }
}
